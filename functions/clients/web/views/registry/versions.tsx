import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { go } from '#clients/web/location.ts';
import { may } from '#clients/web/organization.ts';
import { useAction } from '#clients/web/parts/action.tsx';
import { Notice } from '#clients/web/parts/basics.tsx';
import { Confirm, Dialog } from '#clients/web/parts/dialog.tsx';
import { Form, Text, textOf } from '#clients/web/parts/form.tsx';
import { SmallButton } from '#clients/web/parts/small-button.tsx';
import { call, change } from '#clients/web/session.ts';
import { type Picked, uploadModule } from '#clients/web/upload.ts';
import { apiPath, deprecationsOf, type ModuleAddress } from './module-api.ts';
import { VersionFields } from './modules.tsx';

type Status = Resource<'registry-modules'>['attributes']['version-statuses'][number];

const words: Record<string, [text: string, tone: string]> = {
  ok: ['published', 'good'],
  pending: ['waiting for the upload', 'waiting'],
  cloning: ['cloning', 'running'],
  clone_failed: ['clone failed', 'bad'],
  reg_ingress_failed: ['rejected', 'bad'],
};

type Asked = { kind: 'publish' } | { kind: 'deprecate' | 'delete'; version: string };

interface Props {
  module: Resource<'registry-modules'>;
  address: ModuleAddress;
  onChange(): void;
}

/** Versions of a module: publish, deprecate and delete. */
export const Versions = ({ module, address, onChange }: Props) => {
  const { 'version-statuses': statuses, 'vcs-repo': repo } = module.attributes;
  const mayChange = may(address.organization, 'can-create-module');
  const deprecations = useLive(
    `deprecations ${apiPath(address)} ${statuses.length}`,
    () => deprecationsOf(address),
    () => undefined,
  );
  const asked = useSignal<Asked | undefined>(undefined);
  const close = () => {
    asked.value = undefined;
  };
  const done = () => {
    close();
    deprecations.refresh();
    onChange();
  };
  const { failure, perform } = useAction();
  const undo = async (version: string) => {
    if (await perform(() => setDeprecation(address, version, undefined))) done();
  };
  return (
    <section class="stack">
      <div class="row spread">
        <p class="soft">A published version never changes. Deprecate it to warn its users.</p>
        {mayChange && !repo && (
          <button type="button" onClick={() => (asked.value = { kind: 'publish' })}>
            Publish version
          </button>
        )}
      </div>
      {failure}
      {statuses.length === 0 ? (
        <p class="panel pad soft">No versions yet.</p>
      ) : (
        <ul class="panel list" aria-label="Versions">
          {statuses.map((status) => (
            <Line
              key={status.version}
              status={status}
              reason={deprecations.value?.[status.version]?.reason}
              actions={
                mayChange && (
                  <VersionActions
                    status={status}
                    deprecated={deprecations.value?.[status.version] !== undefined}
                    onAsk={(kind) => (asked.value = { kind, version: status.version })}
                    onUndo={() => undo(status.version)}
                  />
                )
              }
            />
          ))}
        </ul>
      )}
      {asked.value?.kind === 'publish' && <Publish address={address} onDone={done} onClose={close} />}
      {asked.value?.kind === 'deprecate' && (
        <Deprecate address={address} version={asked.value.version} onDone={done} onClose={close} />
      )}
      {asked.value?.kind === 'delete' && (
        <Delete
          address={address}
          version={asked.value.version}
          last={statuses.length === 1}
          onDone={done}
          onClose={close}
        />
      )}
    </section>
  );
};

const Line = ({
  status: { version, status, error },
  reason,
  actions,
}: {
  status: Status;
  reason: string | undefined;
  actions: ComponentChildren;
}) => {
  const [text, tone] = words[status] ?? [status, 'neutral'];
  return (
    <li class="item">
      <span class="row">
        <span class="title">{version}</span>
        <span class={`status ${tone}`}>{text}</span>
        {reason !== undefined && <span class="status attention">deprecated</span>}
      </span>
      <span class="meta break">{error ?? reason}</span>
      <span class="end">
        <span class="row">{actions}</span>
      </span>
    </li>
  );
};

interface ActionProps {
  status: Status;
  deprecated: boolean;
  onAsk(kind: 'deprecate' | 'delete'): void;
  onUndo(): void;
}

const VersionActions = ({ status: { version, status }, deprecated, onAsk, onUndo }: ActionProps) => (
  <>
    {status === 'ok' && (
      <button
        type="button"
        class="small-button"
        aria-label={`${deprecated ? 'Undo deprecation of' : 'Deprecate'} ${version}`}
        onClick={() => (deprecated ? onUndo() : onAsk('deprecate'))}
      >
        {deprecated ? 'Undo deprecation' : 'Deprecate'}
      </button>
    )}
    <SmallButton text="Delete" of={version} danger onClick={() => onAsk('delete')} />
  </>
);

interface DialogProps {
  address: ModuleAddress;
  onDone(): void;
  onClose(): void;
}

const Publish = ({ address, onDone, onClose }: DialogProps) => {
  const source = useSignal<Picked | undefined>(undefined);
  return (
    <Dialog title="Publish a version" onClose={onClose}>
      <Form
        submit="Publish"
        onCancel={onClose}
        onSubmit={async (data) => {
          if (!source.value) throw new Error('Choose the folder with the files of the module.');
          await uploadModule(apiPath(address), textOf(data, 'version') ?? '', source.value);
          onDone();
        }}
      >
        <VersionFields source={source} />
      </Form>
    </Dialog>
  );
};

const setDeprecation = (address: ModuleAddress, version: string, why: { reason: string; link: string } | undefined) =>
  change(`${apiPath(address)}/${encodeURIComponent(version)}`, 'registry-module-versions', {
    deprecation: why ? { 'deprecated-status': 'Deprecated', ...why } : { 'deprecated-status': 'Undeprecated' },
  });

const Deprecate = ({ address, version, onDone, onClose }: DialogProps & { version: string }) => (
  <Dialog title={`Deprecate ${version}?`} onClose={onClose}>
    <Form
      submit="Deprecate"
      onCancel={onClose}
      onSubmit={async (data) => {
        await setDeprecation(address, version, {
          reason: textOf(data, 'reason') ?? '',
          link: textOf(data, 'link') ?? '',
        });
        onDone();
      }}
    >
      <Notice>
        Configurations that use it still work. Recent versions of Terraform warn about it in <code>terraform init</code>
        .
      </Notice>
      <Text label="Reason" name="reason" autoFocus hint="For example: use 2.0.0, which fixes the routes." />
      <Text label="Link" name="link" hint="A page with more information." />
    </Form>
  </Dialog>
);

const Delete = ({ address, version, last, onDone, onClose }: DialogProps & { version: string; last: boolean }) => (
  <Confirm
    title={`Delete version ${version}?`}
    yes="Delete version"
    onYes={async () => {
      await call('DELETE', `${apiPath(address)}/${encodeURIComponent(version)}`);
      if (last) go({ view: 'modules', organization: address.organization });
      else onDone();
    }}
    onClose={onClose}
  >
    <p>
      Configurations that use it fail in <code>terraform init</code>.
      {last && ' It is the only version: the module is deleted with it.'}
    </p>
  </Confirm>
);
