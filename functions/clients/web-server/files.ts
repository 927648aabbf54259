/** The page's files as the bundler writes them (infra/stack/page.ts) and the function serves them. */

export interface PageFile {
  contentType: string;
  /** Base64 of the content, compressed with Brotli. Only rare clients need anything else. */
  br: string;
}

export interface PageFiles {
  /** HTML with `{{base}}` in place of the relative path to the base. */
  html: string;
  /** By name, which contains a hash of the content. */
  assets: Record<string, PageFile>;
}
