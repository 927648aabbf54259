import { type Entry, tarBlocks } from '#platform/formats/tar-writer.ts';

/** Packs configuration files in the browser, in the API's format. */

export type { Entry };

export const tar = (entries: Entry[]): Blob => new Blob(tarBlocks(entries) as BlobPart[]);

export const gzip = (blob: Blob): Promise<Blob> =>
  new Response(blob.stream().pipeThrough(new CompressionStream('gzip'))).blob();

/** Leaves out the same files as the command line: Git data, installed packages and providers, and states. */
export const isConfigurationFile = (path: string): boolean =>
  !/(^|\/)(\.git|node_modules|\.DS_Store)(\/|$)/.test(path) &&
  (!/(^|\/)\.terraform\//.test(path) || /(^|\/)\.terraform\/modules\//.test(path)) &&
  !/(^|\/)[^/]*\.tfstate(\.[^/]*)?$/.test(path);
