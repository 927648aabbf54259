import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { errorText } from '../session.ts';
import { type Picked, type PickedKind, picked } from '../upload.ts';
import { Notice } from './basics.tsx';
import { SmallButton } from './button.tsx';

interface Props {
  /** Label, also for the inputs: `Configuration`. */
  label: string;
  source: { value: Picked | undefined };
  kind: PickedKind;
  /** Hint while nothing is picked. */
  says: string;
}

/** Picks a folder or files to upload with the form. */
export const Picker = ({ label, source, kind, says }: Props) => {
  const error = useSignal<string | undefined>(undefined);
  const folder = useRef<HTMLInputElement>(null);
  const files = useRef<HTMLInputElement>(null);
  const take = (input: HTMLInputElement | null) => {
    error.value = undefined;
    try {
      source.value = picked([...(input?.files ?? [])], kind);
    } catch (caught) {
      error.value = errorText(caught);
    }
  };
  return (
    <div class="field">
      <span class="label">{label}</span>
      <p class="soft small">
        {source.value ? (
          <>
            <strong>{source.value.name}</strong> will be uploaded.
          </>
        ) : (
          says
        )}
      </p>
      <div class="row">
        <SmallButton text="Choose folder" onClick={() => folder.current?.click()} />
        <SmallButton text="Choose files or archive" onClick={() => files.current?.click()} />
        <input
          ref={folder}
          type="file"
          hidden
          aria-label={`${label}: folder`}
          // Not standardized, but all browsers support it.
          {...{ webkitdirectory: true }}
          onChange={(event) => take(event.currentTarget)}
        />
        <input
          ref={files}
          type="file"
          hidden
          multiple
          aria-label={`${label}: files`}
          onChange={(event) => take(event.currentTarget)}
        />
      </div>
      {error.value && <Notice kind="bad">{error.value}</Notice>}
    </div>
  );
};
