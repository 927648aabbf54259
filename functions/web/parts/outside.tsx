import type { ComponentChildren } from 'preact';

/** Leads to a forge. Its URL comes from whoever uploaded or pushed, so only https becomes a link. */
export const Outside = ({ url, children }: { url: string | null | undefined; children: ComponentChildren }) =>
  url?.startsWith('https://') ? (
    <a href={url} rel="noreferrer noopener" target="_blank">
      {children}
    </a>
  ) : (
    children
  );
