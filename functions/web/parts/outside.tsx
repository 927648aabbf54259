import type { ComponentChildren } from 'preact';

/** Link to a forge. The URL is untrusted, so only https becomes a link. */
export const Outside = ({ url, children }: { url: string | null | undefined; children: ComponentChildren }) =>
  url?.startsWith('https://') ? (
    <a href={url} rel="noreferrer noopener" target="_blank">
      {children}
    </a>
  ) : (
    children
  );
