import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import { Outputs } from '#clients/web/parts/outputs.tsx';
import { all, related } from '#clients/web/session.ts';

/** The state that a run created, with its outputs. */
export const RunOutcome = ({
  apply,
  workspace,
  organization,
}: {
  apply: Resource<'applies'> | undefined;
  workspace: Resource<'workspaces'> | undefined;
  organization: string;
}) => {
  const version = related(apply, 'state-versions');
  const may = workspace?.attributes.permissions['can-read-state-outputs'];
  if (!version || !may) return null;
  const { name, permissions } = workspace.attributes;
  const href = permissions['can-read-state-versions']
    ? hrefOf({ view: 'state', organization, workspace: name, version })
    : undefined;
  return <StateOutputs key={version} version={version} href={href} />;
};

const StateOutputs = ({ version, href }: { version: string; href: string | undefined }) => {
  const outputs = useLive(
    `state-outputs/${version}`,
    async () => (await all<'state-version-outputs'>(`/state-versions/${version}/outputs`)).data,
    () => undefined,
  );
  return (
    <section class="panel">
      <div class="pad row spread">
        <h2>State</h2>
        {href ? <a href={href}>Compare with the previous state</a> : <code class="soft">{version}</code>}
      </div>
      {outputs.value &&
        (outputs.value.length ? <Outputs outputs={outputs.value} /> : <p class="pad soft">No outputs.</p>)}
    </section>
  );
};
