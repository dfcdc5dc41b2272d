import type { Setting } from "../setting.ts";

/** The place of file contents, if not in the data folder. */
export const FILE_SETTINGS = {
  filesUrl: {
    name: "FILES_URL",
    section: "Storage",
    kind: "string",
    default: null,
    defaultText: "folders in DATA_DIR",
    text: "Where the bytes of uploaded files and container files are stored: s3://bucket/prefix for an S3-compatible storage, or file:///folder for a folder, such as one that several machines share. Servers that share a database need the same place.",
  },
  s3Endpoint: {
    name: "S3_ENDPOINT",
    section: "Storage",
    kind: "url",
    default: null,
    defaultText: "Amazon's, in S3_REGION",
    text: "URL of the S3-compatible storage of FILES_URL, such as http://storage.internal:9000. The bucket's name is appended as a part of the path.",
  },
  s3Region: {
    name: "S3_REGION",
    section: "Storage",
    kind: "string",
    default: "us-east-1",
    text: "Region of the bucket of FILES_URL. Many other storages expect us-east-1 or auto.",
  },
  awsAccessKeyId: {
    name: "AWS_ACCESS_KEY_ID",
    section: "Storage",
    kind: "secret",
    default: null,
    text: "Access key of the bucket of FILES_URL. It needs the right to read, write and delete objects under the prefix, and to list uploads, so that uploads of killed servers can be ended.",
  },
  awsSecretAccessKey: {
    name: "AWS_SECRET_ACCESS_KEY",
    section: "Storage",
    kind: "secret",
    default: null,
    text: "Secret of that access key.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
