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
  /** Description of the API (infra/docs/openapi/). */
  openapi: PageFile;
}

/** The documentation (infra/docs/site/): half of the size of separately compressed pages. */
export interface DocsFiles {
  /** Base64 of JSON, compressed with Brotli: the text of each file by its path below `/docs/`, Base64 for pictures of bits. */
  br: string;
}

/** @param path of a file of the documentation */
export const isBase64 = (path: string): boolean => /\.(?:png|webp)$/.test(path);
