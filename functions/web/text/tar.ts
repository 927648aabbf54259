import { type Entry, tarBlocks } from '../../tar-writer.ts';

/** Packs the files of a configuration as the API takes them, in the browser: so a folder can be dropped on the page. */

export type { Entry };

export const tar = (entries: Entry[]): Blob => new Blob(tarBlocks(entries) as BlobPart[]);

export const gzip = (blob: Blob): Promise<Blob> =>
  new Response(blob.stream().pipeThrough(new CompressionStream('gzip'))).blob();

/** What never belongs into a configuration: as the command line leaves out. */
export const isConfigurationFile = (path: string): boolean =>
  !/(^|\/)(\.git|node_modules|\.DS_Store)(\/|$)/.test(path) &&
  (!/(^|\/)\.terraform\//.test(path) || /(^|\/)\.terraform\/modules\//.test(path)) &&
  !/(^|\/)[^/]*\.tfstate(\.[^/]*)?$/.test(path);
