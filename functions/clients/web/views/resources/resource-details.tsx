import type { Resource } from '#clients/client/client.ts';
import { hrefOf } from '#clients/web/location.ts';
import { Ago, Facts } from '#clients/web/parts/basics.tsx';
import { SmallButton } from '#clients/web/parts/button.tsx';
import { related } from '#clients/web/session.ts';
import { configured } from '#platform/text/resource-times.ts';
import { LastChange, type Managed } from './last-change.tsx';

interface Props {
  resource: Managed;
  resources: Managed[];
  workspace: Resource<'workspaces'>;
  /** Selected address; empty: none. */
  onChoose(address: string): void;
}

/** One resource: type, dependencies and history. */
export const ResourceDetails = ({ resource, resources, workspace, onChoose }: Props) => {
  const { address, type, module, provider, dependsOn, createdAt, changes, tainted } = resource;
  const users = resources.filter((resource) => resource.dependsOn.includes(configured(address)));
  const needed = resources.filter((resource) => dependsOn.includes(configured(resource.address)));
  return (
    <section class="panel pad stack" aria-label={`Resource ${address}`}>
      <div class="row spread">
        <h2 class="mono break">{address}</h2>
        <SmallButton text="Close" onClick={() => onChoose('')} />
      </div>
      <Facts
        facts={[
          ['Type', <code key="type">{type}</code>],
          ['Provider', provider],
          ['Module', module || 'root'],
          tainted && ['State', 'tainted: the next plan replaces it'],
          ['Depends on', <Links key="on" of={needed} onChoose={onChoose} />],
          ['Used by', <Links key="by" of={users} onChoose={onChoose} />],
          ['Created', createdAt ? <Ago key="at" at={createdAt} /> : 'before history was recorded'],
        ]}
      />
      <h3>History</h3>
      {changes.length === 0 && <p class="soft">No changes recorded yet.</p>}
      <ol class="plain" aria-label="History">
        {changes.map((change) => (
          <li key={change.version} class="row">
            <LastChange change={change} workspace={workspace} />
            <a
              href={`${hrefOf({
                view: 'state',
                organization: related(workspace, 'organization') ?? '',
                workspace: workspace.attributes.name,
                version: change.version,
              })}#change-${encodeURIComponent(address)}`}
            >
              What changed
            </a>
          </li>
        ))}
      </ol>
    </section>
  );
};

/** One instance per resource is enough to link to. */
const Links = ({ of, onChoose }: { of: Managed[]; onChoose(address: string): void }) => {
  const byName = Map.groupBy(of, ({ address }) => configured(address));
  if (byName.size === 0) return <span class="soft">nothing</span>;
  return (
    <>
      {[...byName].map(([name, instances]) => (
        <span key={name} class="entry">
          <button type="button" class="link mono break" onClick={() => onChoose(instances[0]?.address ?? '')}>
            {name}
          </button>
          {instances.length > 1 && <span class="soft"> × {instances.length}</span>}
        </span>
      ))}
    </>
  );
};
