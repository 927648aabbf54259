import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { go, hrefOf } from '#clients/web/location.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { DialogButton } from '#clients/web/parts/button.tsx';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Form } from '#clients/web/parts/form.tsx';
import { isOver } from '#clients/web/parts/status.tsx';
import { all, create, related } from '#clients/web/session.ts';
import { type ModuleAddress, readModule } from './module-api.ts';
import { type Offer, readOffer, VariableFields, valuesIn } from './module-variables.tsx';

type Workspace = Resource<'workspaces'>;

/** Module version of a no-code workspace: `private/acme/network/aws/1.0.0`. */
const sourceOf = (workspace: Workspace): { address: ModuleAddress; version: string } => {
  const parts = (workspace.attributes['source-module-id'] ?? '').split('/');
  const [registry = '', namespace = '', name = '', provider = '', version = ''] = parts;
  const organization = related(workspace, 'organization') ?? '';
  return { address: { organization, registry, namespace, name, provider }, version };
};

interface Props {
  workspace: Workspace;
  run: Resource<'runs'> | undefined;
}

/** Module and version of a no-code workspace, with an upgrade to a newer one, which is planned first. */
export const ModuleOfWorkspace = ({ workspace, run }: Props) => {
  const { address, version } = sourceOf(workspace);
  const { 'no-code-upgrade-available': isOutdated, permissions } = workspace.attributes;
  const isGoingOn = run !== undefined && !isOver(run) && run.attributes.source === 'tfe-module';
  return (
    <section class="panel pad row" aria-label="Module">
      <h2>Module</h2>
      <span class="grow break">
        <a href={hrefOf({ view: 'module', ...address, tab: 'documentation' })}>
          {address.namespace}/{address.name}/{address.provider}
        </a>{' '}
        {version}
      </span>
      {isOutdated && isGoingOn && <span class="soft">Its run is in progress.</span>}
      {isOutdated && !isGoingOn && (
        <>
          <span class="tag info">newer version</span>
          {permissions['can-queue-apply'] && (
            <DialogButton text="Upgrade">
              {(close) => <Upgrade workspace={workspace} address={address} version={version} onClose={close} />}
            </DialogButton>
          )}
        </>
      )}
    </section>
  );
};

interface UpgradeProps {
  workspace: Workspace;
  address: ModuleAddress;
  version: string;
  onClose(): void;
}

/** Variables of the new version without a value in the workspace. */
const load = async (workspace: Workspace, address: ModuleAddress): Promise<Offer> => {
  const [offer, { data: workspaceVariables }] = await Promise.all([
    readModule(address).then((module) => readOffer(module, address)),
    all<'vars'>(`/workspaces/${workspace.id}/vars`),
  ]);
  const keys = new Set(workspaceVariables.map(({ attributes }) => attributes.key));
  return { ...offer, variables: offer.variables.filter(({ name }) => !keys.has(name) && !keys.has(`TF_VAR_${name}`)) };
};

const Upgrade = (props: UpgradeProps) => {
  const { workspace, address, onClose } = props;
  const live = useLive(`upgrade/${workspace.id}`, () => load(workspace, address));
  return (
    <Dialog title={`Upgrade ${workspace.attributes.name}`} onClose={onClose}>
      <Loaded live={live} what="module">
        {(offer) => <Fields {...props} offer={offer} />}
      </Loaded>
    </Dialog>
  );
};

const Fields = ({ offer, workspace, address, version, onClose }: UpgradeProps & { offer: Offer }) => {
  const { id, variables } = offer;
  const submit = async (data: FormData) => {
    const upgrade = await create(
      `/no-code-modules/${id}/workspaces/${workspace.id}/upgrade`,
      'workspaces',
      {},
      { vars: { data: valuesIn(data, variables) } },
    );
    const run = related(upgrade, 'run');
    const { organization } = address;
    if (run) go({ view: 'run', organization, workspace: workspace.attributes.name, run });
    // Another user has started the upgrade.
    else onClose();
  };
  return (
    <>
      <p>
        {address.name} {version} → <strong>{offer.version}</strong>. A run plans the upgrade and waits for confirmation;
        nothing changes until then. Variables keep their values.
      </p>
      <Form submit="Plan upgrade" onSubmit={submit} onCancel={onClose}>
        <VariableFields legend="Variables that need a value" variables={variables} />
      </Form>
    </>
  );
};
