/** What the bundler makes of the page (infra/page.ts) and the function serves. */

export interface PageFile {
  contentType: string;
  /** Base64 of the content, compressed. */
  br: string;
  gzip: string;
}

export interface PageFiles {
  /** HTML with `{{base}}` where the way back to the base goes. */
  html: string;
  /** By name; the name has a hash of the content in it. */
  assets: Record<string, PageFile>;
}
