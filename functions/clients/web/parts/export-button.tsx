import { useSignal } from '@preact/signals';
import { errorText } from '../session.ts';
import { Notice } from './basics.tsx';

/** Downloads a CSV file; shows errors next to the button. */
export const ExportButton = ({ save }: { save(): Promise<void> }) => {
  const busy = useSignal(false);
  const error = useSignal<string | undefined>(undefined);
  const start = async () => {
    busy.value = true;
    error.value = undefined;
    try {
      await save();
    } catch (caught) {
      error.value = errorText(caught);
    }
    busy.value = false;
  };
  return (
    <>
      <button type="button" disabled={busy.value} onClick={start}>
        {busy.value ? 'Exporting …' : 'Export CSV'}
      </button>
      {error.value && <Notice kind="bad">{error.value}</Notice>}
    </>
  );
};
