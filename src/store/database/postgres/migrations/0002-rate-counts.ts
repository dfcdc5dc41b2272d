import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Counters of rate limits. A crash of the database may empty the table; then every minute starts again. */
export const rateCounts: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of [TABLE, CHANGE]) await sql.raw(statement).execute(db);
  },
};

const TABLE = `create unlogged table rate_counts (
  name text collate "C" primary key,
  used bigint not null,
  ends_at timestamptz not null)`;

/**
 * Applies changes as described by `CountChange`, ordered by name to avoid deadlocks, and for one name in the given
 * order.
 */
const CHANGE = `create function change_rate_counts(
    names text[], kinds text[], amounts bigint[], limits bigint[], periods bigint[], refusals bigint[], lefts bigint[])
  returns table (place bigint, is_taken boolean, now_used bigint, now_left bigint) language plpgsql as $$
  declare
    asked record;
    kept rate_counts;
    moment timestamptz;
  begin
    perform set_config('synchronous_commit', 'off', true); -- A crash may take the latest counts with it.
    for asked in
      select * from unnest(names, kinds, amounts, limits, periods, refusals, lefts)
        with ordinality as given(name, kind, amount, most, period, refusal, left_most, ordinal)
      order by given.name collate "C", given.ordinal
    loop
      if asked.amount = 0 then
        select * into kept from rate_counts where rate_counts.name = asked.name;
      else
        select * into kept from rate_counts where rate_counts.name = asked.name for update;
        if not found and asked.amount > 0 then
          insert into rate_counts (name, used, ends_at) values (asked.name, 0, '-infinity') on conflict do nothing;
          select * into kept from rate_counts where rate_counts.name = asked.name for update;
        end if;
      end if;
      moment := clock_timestamp();
      place := asked.ordinal;
      is_taken := true;
      now_used := 0;
      now_left := 0;
      if kept.ends_at > moment then
        now_used := kept.used;
        now_left := ceil(extract(epoch from kept.ends_at - moment) * 1000);
      end if;
      if asked.kind = 'take' and now_used + asked.amount > asked.most then
        is_taken := false;
        if asked.refusal > 0 and asked.amount > 0 and now_used <= asked.most then
          now_used := asked.most + 1;
          now_left := asked.refusal;
          update rate_counts set used = now_used, ends_at = moment + now_left * interval '1 millisecond'
            where rate_counts.name = asked.name;
        end if;
      elsif asked.amount > 0 then
        now_used := now_used + asked.amount;
        if now_left = 0 then
          now_left := asked.period;
          update rate_counts set used = now_used, ends_at = moment + now_left * interval '1 millisecond'
            where rate_counts.name = asked.name;
        else
          update rate_counts set used = now_used where rate_counts.name = asked.name;
        end if;
      elsif asked.amount < 0 and now_left > 0 and now_left <= asked.left_most then
        now_used := greatest(0, now_used + asked.amount);
        update rate_counts set used = now_used where rate_counts.name = asked.name;
      end if;
      return next;
    end loop;
  end $$`;
