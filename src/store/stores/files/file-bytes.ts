/** Keeps the bytes of files by their ids. An id is written once and never again. */
export interface FileBytes {
  /** Resolves to the number of bytes once they are durable. */
  write(id: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<number>;
  /** Null if there is no such file. */
  read(id: string): Promise<Buffer | null>;
  /** Opens the file at the first read. */
  stream(id: string): AsyncIterable<Uint8Array>;
  /** Removes the file if it exists. */
  remove(id: string): Promise<void>;
  /** The same for a file whose writer may be dead: removes the parts that it left, too. */
  removeUnfinished(id: string): Promise<void>;
}

/** Keeps the bytes of the files of containers. */
export interface ContainerBytes {
  /** Resolves to the number of bytes once they are durable. */
  write(containerId: string, fileId: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<number>;
  /** Opens the file at the first read. */
  stream(containerId: string, fileId: string): AsyncIterable<Uint8Array>;
  /** Removes the file if it exists. */
  remove(containerId: string, fileId: string): Promise<void>;
  /** The same for a file whose writer may be dead: removes the parts that it left, too. */
  removeUnfinished(containerId: string, fileId: string): Promise<void>;
  /** Removes all files of a container. `fileIds`: those that are known of. */
  removeContainer(containerId: string, fileIds: readonly string[]): Promise<void>;
}
