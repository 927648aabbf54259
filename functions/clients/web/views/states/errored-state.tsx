import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { Notice } from '#clients/web/parts/basics.tsx';
import { content, errorText } from '#clients/web/session.ts';
import { saveFile } from '#clients/web/text/save.ts';

/** The state of an apply that could not be saved to the workspace. */
export const ErroredState = ({ run, apply }: { run: Resource<'runs'>; apply: Resource<'applies'> | undefined }) => {
  const message = useSignal<string | undefined>(undefined);
  if (!apply?.links?.['errored-state']) return null;
  const fetchIt = async () => {
    message.value = undefined;
    try {
      const response = await content(`/applies/${apply.id}/errored-state`);
      saveFile(await response.text(), `${run.id}-errored.tfstate`, 'application/json');
    } catch (error) {
      message.value = errorText(error);
    }
  };
  return (
    <Notice kind="warn">
      <p>
        The final state of this apply was not saved as the workspace’s state. Before you apply again, download it and
        restore it with <code>terraform state push {run.id}-errored.tfstate</code>.
      </p>
      <button type="button" onClick={fetchIt}>
        Download errored state
      </button>
      {message.value && <p role="status">{message.value}</p>}
    </Notice>
  );
};
