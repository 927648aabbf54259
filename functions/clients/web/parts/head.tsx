import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';

interface HeadProps {
  title: string;
  /** Text of the button. */
  add?: string;
  /** Only for users with permission. */
  onAdd?: (() => void) | false;
}

/** Title of a list view, with a button to add an entry. */
export const Head = ({ title, add = '', onAdd }: HeadProps) => (
  <div class="row spread">
    <h1>{title}</h1>
    {onAdd && <Button text={add} primary onClick={onAdd} />}
  </div>
);

interface TitledProps {
  title: string;
  /** Beside the title, such as a status. */
  beside?: ComponentChildren;
  description?: ComponentChildren;
  /** Actions. */
  children?: ComponentChildren;
}

/** Title of a single item, with its actions. */
export const Titled = ({ title, beside, description, children }: TitledProps) => (
  <div class="row spread">
    <div class="grow">
      <div class="row">
        <h1>{title}</h1>
        {beside}
      </div>
      {description && <p class="soft break">{description}</p>}
    </div>
    <div class="row">{children}</div>
  </div>
);
