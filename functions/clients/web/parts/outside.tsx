import type { ComponentChildren } from 'preact';

/** Link to a forge. The URL is untrusted, so only one of the web becomes a link; a forge in a private network may have http. */
export const Outside = ({ url, children }: { url: string | null | undefined; children: ComponentChildren }) =>
  url && /^https?:\/\//.test(url) ? (
    <a href={url} rel="noreferrer noopener" target="_blank">
      {children}
    </a>
  ) : (
    children
  );
