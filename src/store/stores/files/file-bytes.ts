/** Stores the bytes of files by id. Each id is written only once. */
export interface FileBytes {
  /** Resolves to the number of bytes once they are durable. */
  write(id: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<number>;
  /** Null if there is no such file. */
  read(id: string): Promise<Buffer | null>;
  /** Opens the file at the first read. */
  stream(id: string): AsyncIterable<Uint8Array>;
  /** Removes the file if it exists. */
  remove(id: string): Promise<void>;
  /** The same for a file whose writer may be dead: removes its partial uploads, too. */
  removeUnfinished(id: string): Promise<void>;
}

/** Stores the bytes of container files. */
export interface ContainerBytes {
  /** Resolves to the number of bytes once they are durable. */
  write(containerId: string, fileId: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<number>;
  /** Opens the file at the first read. */
  stream(containerId: string, fileId: string): AsyncIterable<Uint8Array>;
  /** Removes the file if it exists. */
  remove(containerId: string, fileId: string): Promise<void>;
  /** The same for a file whose writer may be dead: removes its partial uploads, too. */
  removeUnfinished(containerId: string, fileId: string): Promise<void>;
  /** Removes all files of a container. `fileIds`: the known files. */
  removeContainer(containerId: string, fileIds: readonly string[]): Promise<void>;
}
