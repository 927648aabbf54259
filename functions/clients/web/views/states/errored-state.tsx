import type { Resource } from '#clients/client/client.ts';
import { Notice } from '#clients/web/parts/basics.tsx';
import { ActionButton } from '#clients/web/parts/button.tsx';
import { content } from '#clients/web/session.ts';
import { saveFile } from '#clients/web/text/save.ts';

/** The state of an apply that could not be saved to the workspace. */
export const ErroredState = ({ run, apply }: { run: Resource<'runs'>; apply: Resource<'applies'> | undefined }) => {
  if (!apply?.links?.['errored-state']) return null;
  const save = async () => {
    const response = await content(`/applies/${apply.id}/errored-state`);
    saveFile(await response.text(), `${run.id}-errored.tfstate`, 'application/json');
  };
  return (
    <Notice kind="warn">
      <p>
        The final state of this apply was not saved as the workspace’s state. Before you apply again, download it and
        restore it with <code>terraform state push {run.id}-errored.tfstate</code>.
      </p>
      <ActionButton text="Download errored state" work={save} />
    </Notice>
  );
};
