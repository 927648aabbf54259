import type { ComponentChildren } from 'preact';

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
