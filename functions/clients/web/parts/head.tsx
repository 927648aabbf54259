import type { ComponentChildren } from 'preact';

/** Title of a list view, with a button to add an entry; `onAdd` only for users with permission. */
export const Head = ({ title, add, onAdd }: { title: string; add?: string; onAdd?: (() => void) | false }) => (
  <div class="row spread">
    <h1>{title}</h1>
    {onAdd && (
      <button type="button" class="primary" onClick={onAdd}>
        {add}
      </button>
    )}
  </div>
);

/** Title of a single item, with its actions. */
export const Titled = ({
  title,
  description,
  onEdit,
  onDelete,
}: {
  title: ComponentChildren;
  description?: string | null;
  onEdit?: (() => void) | false;
  onDelete?: (() => void) | false;
}) => (
  <div class="row spread">
    <div class="grow">
      <h1>{title}</h1>
      {description && <p class="soft break">{description}</p>}
    </div>
    <div class="row">
      {onEdit && (
        <button type="button" onClick={onEdit}>
          Change
        </button>
      )}
      {onDelete && (
        <button type="button" class="danger" onClick={onDelete}>
          Delete
        </button>
      )}
    </div>
  </div>
);
