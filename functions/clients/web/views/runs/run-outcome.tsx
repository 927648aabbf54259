import type { Resource } from '#clients/client/client.ts';
import { useList } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Outputs } from '#clients/web/parts/outputs.tsx';
import { related } from '#clients/web/session.ts';

interface Props extends OrganizationProps {
  apply: Resource<'applies'> | undefined;
  workspace: Resource<'workspaces'> | undefined;
}

/** The state that a run created, with its outputs. */
export const RunOutcome = ({ apply, workspace, organization }: Props) => {
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
  const outputs = useList<'state-version-outputs'>(`/state-versions/${version}/outputs`);
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
