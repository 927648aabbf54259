import { base } from '#clients/web/location.ts';

/** The documentation of this version, in a tab of its own: a form keeps its text. */
export const HelpLink = () => (
  <a
    class="button quiet small-button"
    href={`${base}/docs/index.html`}
    target="_blank"
    rel="noreferrer"
    title="Documentation"
  >
    <span aria-hidden="true">?</span>
    <span class="visually-hidden">Documentation</span>
  </a>
);
