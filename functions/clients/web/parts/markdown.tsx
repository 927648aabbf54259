import type { ComponentChildren } from 'preact';
import { addStyle } from '../lazily.tsx';
import markdownStyle from '../style/markdown.css' with { type: 'text' };
import type { Inline } from '../text/inline.ts';
import { type Block, maxMarkdown, parseMarkdown } from '../text/markdown.ts';

addStyle(markdownStyle);

/** An untrusted link, opened without a referrer. */
export const ExternalLink = ({ href, children }: { href: string; children: ComponentChildren }) => (
  <a href={href} target="_blank" rel="noopener noreferrer nofollow">
    {children}
  </a>
);

const Inlines = ({ of }: { of: Inline[] }) => (
  <>
    {of.map((inline) => {
      if (typeof inline === 'string') return inline;
      if (inline.kind === 'code') return <code>{inline.text}</code>;
      const children = <Inlines of={inline.children} />;
      if (inline.kind === 'link') return <ExternalLink href={inline.href}>{children}</ExternalLink>;
      if (inline.kind === 'strong') return <strong>{children}</strong>;
      return inline.kind === 'del' ? <del>{children}</del> : <em>{children}</em>;
    })}
  </>
);

const Table = ({ head, rows }: { head: Inline[][]; rows: Inline[][][] }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable by keyboard
  <section class="scrolls" tabIndex={0} aria-label="Table">
    <table>
      <thead>
        <tr>
          {head.map((cell) => (
            <th scope="col">
              <Inlines of={cell} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr>
            {row.map((cell) => (
              <td>
                <Inlines of={cell} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

const Blocks = ({ of }: { of: Block[] }) => (
  <>
    {of.map((block) => {
      switch (block.kind) {
        case 'code':
          return <pre class="value">{block.text}</pre>;
        case 'quote':
          return (
            <blockquote>
              <Blocks of={block.blocks} />
            </blockquote>
          );
        case 'list': {
          const items = block.items.map((blocks) => (
            <li>
              <Blocks of={blocks} />
            </li>
          ));
          return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
        }
        case 'table':
          return <Table head={block.head} rows={block.rows} />;
        case 'rule':
          return <hr />;
        default:
          // Untrusted headings must not become part of the page's outline.
          return (
            <p class={block.kind}>
              <Inlines of={block.children} />
            </p>
          );
      }
    })}
  </>
);

/** Renders untrusted Markdown. */
export const Markdown = ({ text }: { text: string }) => (
  <div class="markdown">
    <Blocks of={parseMarkdown(text)} />
    {text.length > maxMarkdown && <p class="soft">Truncated: the text is too long to show.</p>}
  </div>
);
