import { useSignal } from '@preact/signals';
import { ApiError, type Resource } from '../../cli/client.ts';
import { Notice } from '../parts/basics.tsx';
import { content, saying } from '../session.ts';
import { saveFile } from '../text/save.ts';

/**
 * The state of an apply that could not become the workspace's. A runner that was given up may bring one when nobody says
 * so any more; then it can be looked for.
 */
export const ErroredState = ({ run, apply }: { run: Resource; apply: Resource | undefined }) => {
  const said = useSignal<string | undefined>(undefined);
  if (!apply) return null;
  const { status, 'error-message': message } = apply.attributes;
  const known = apply.links?.['errored-state'] !== undefined;
  const cutOff = (status === 'errored' || status === 'canceled') && message === null;
  if (!known && !cutOff) return null;
  const fetchIt = async () => {
    said.value = undefined;
    try {
      const response = await content(`/applies/${apply.id}/errored-state`);
      saveFile(await response.text(), `${run.id}-errored.tfstate`, 'application/json');
    } catch (error) {
      const none = error instanceof ApiError && error.status === 404;
      said.value = none ? 'The runner has brought none.' : saying(error);
    }
  };
  return (
    <Notice kind="warn">
      <p>
        {known
          ? 'What this apply recorded last is not in the workspace’s state. Before anything else is applied, download it and bring it in with '
          : 'The runner may still have brought a newer state than the workspace’s. If so, bring it in with '}
        <code>terraform state push {run.id}-errored.tfstate</code>.
      </p>
      <button type="button" onClick={fetchIt}>
        {known ? 'Download the errored state' : 'Look for an errored state'}
      </button>
      {said.value && <p role="status">{said.value}</p>}
    </Notice>
  );
};
