import type { ComponentChildren } from 'preact';
import { Notice } from './basics.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

interface Props {
  title: string;
  failed: [name: string, why: string][];
  onClose(): void;
  /** What succeeded. */
  children: ComponentChildren;
}

/** Shown when an action failed for some of several things. */
export const Failures = ({ title, failed, onClose, children }: Props) => (
  <Dialog title={title} onClose={onClose}>
    <p>{children}</p>
    <Notice kind="bad">
      <ul>
        {failed.map(([name, why]) => (
          <li key={name}>
            <strong>{name}</strong>: {why}
          </li>
        ))}
      </ul>
    </Notice>
    <Button text="Close" onClick={onClose} />
  </Dialog>
);
