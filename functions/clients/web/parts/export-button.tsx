import { useAction } from './action.tsx';

/** Downloads a CSV file; shows errors next to the button. */
export const ExportButton = ({ save }: { save(): Promise<void> }) => {
  const { busy, failure, perform } = useAction();
  return (
    <>
      <button type="button" disabled={busy.value} onClick={() => perform(save)}>
        {busy.value ? 'Exporting …' : 'Export CSV'}
      </button>
      {failure}
    </>
  );
};
