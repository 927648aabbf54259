import type { ComponentChildren } from 'preact';
import type { Attributes } from '#clients/client/documents.ts';
import { Notice } from './basics.tsx';

interface Props {
  checks: Attributes['runs']['failed-checks'];
  /** The next step. */
  children?: ComponentChildren;
}

/** Check blocks that failed, with their messages; nothing without any. */
export const FailedChecks = ({ checks, children }: Props) =>
  checks.length > 0 && (
    <Notice kind="warn">
      <ul>
        {checks.map(({ address, message }) => (
          <li key={`${address} ${message}`}>
            <strong>
              <code>{address}</code> failed.
            </strong>{' '}
            {message}
          </li>
        ))}
      </ul>
      {children}
    </Notice>
  );
