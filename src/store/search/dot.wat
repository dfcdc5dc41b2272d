;; Dot products of rows of 8-bit integers with one row of 16-bit integers, 16 at a time.
(module
  (memory (export "memory") 17)
  ;; rows: where the rows begin, each of `width` bytes. query: where 2 * width bytes begin. out: where the products go,
  ;; 4 bytes each. width: a multiple of 16.
  (func (export "dots") (param $rows i32) (param $count i32) (param $width i32) (param $query i32) (param $out i32)
    (local $k i32) (local $sum v128) (local $row v128)
    (block $done
      (loop $each
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $sum (v128.const i32x4 0 0 0 0))
        (local.set $k (i32.const 0))
        (loop $along
          (local.set $row (v128.load (i32.add (local.get $rows) (local.get $k))))
          (local.set $sum (i32x4.add (local.get $sum)
            (i32x4.dot_i16x8_s (i16x8.extend_low_i8x16_s (local.get $row))
              (v128.load (i32.add (local.get $query) (i32.shl (local.get $k) (i32.const 1)))))))
          (local.set $sum (i32x4.add (local.get $sum)
            (i32x4.dot_i16x8_s (i16x8.extend_high_i8x16_s (local.get $row))
              (v128.load offset=16 (i32.add (local.get $query) (i32.shl (local.get $k) (i32.const 1)))))))
          (local.set $k (i32.add (local.get $k) (i32.const 16)))
          (br_if $along (i32.lt_u (local.get $k) (local.get $width))))
        (i32.store (local.get $out) (i32.add
          (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
          (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum)))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $rows (i32.add (local.get $rows) (local.get $width)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $each)))))
