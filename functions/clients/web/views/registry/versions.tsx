import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { go } from '#clients/web/location.ts';
import { may } from '#clients/web/organization.ts';
import { Notice } from '#clients/web/parts/basics.tsx';
import { ActionButton, DialogButton } from '#clients/web/parts/button.tsx';
import { ConfirmButton, FormButton, FormDialog } from '#clients/web/parts/dialog.tsx';
import { Text, type Values } from '#clients/web/parts/fields.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { call, change } from '#clients/web/session.ts';
import { type Picked, uploadModule } from '#clients/web/upload.ts';
import { apiPath, deprecationsOf, type ModuleAddress } from './module-api.ts';
import { VersionFields } from './modules.tsx';

const words: Record<string, [text: string, tone: string]> = {
  ok: ['published', 'good'],
  pending: ['waiting for the upload', 'waiting'],
  cloning: ['cloning', 'running'],
  clone_failed: ['clone failed', 'bad'],
  reg_ingress_failed: ['rejected', 'bad'],
};

interface Props {
  module: Resource<'registry-modules'>;
  address: ModuleAddress;
  onChange(): void;
}

/** Versions of a module: publish, deprecate and delete. */
export const Versions = ({ module, address, onChange }: Props) => {
  const { 'version-statuses': statuses, 'vcs-repo': repo } = module.attributes;
  const mayChange = may(address.organization, 'can-create-module');
  const deprecations = useLive(`deprecations ${apiPath(address)} ${statuses.length}`, () => deprecationsOf(address));
  const done = () => {
    deprecations.refresh();
    onChange();
  };
  return (
    <section class="stack">
      <div class="row spread">
        <p class="soft">A published version never changes. Deprecate it to warn its users.</p>
        {mayChange && !repo && (
          <DialogButton text="Publish version" onClose={done}>
            {(close) => <Publish address={address} onClose={close} />}
          </DialogButton>
        )}
      </div>
      <List
        label="Versions"
        of={statuses}
        none={
          repo
            ? 'No versions yet. Push a tag such as v1.0.0 to publish one.'
            : 'No versions yet. Publish one to use the module.'
        }
      >
        {({ version, status, error }) => {
          const [text, tone] = words[status] ?? [status, 'neutral'];
          const reason = deprecations.value?.[version]?.reason;
          const shared = { address, version, onDone: done };
          return (
            <Item
              key={version}
              title={version}
              beside={
                <>
                  <span class={`status ${tone}`}>{text}</span>
                  {reason !== undefined && <span class="status attention">deprecated</span>}
                </>
              }
              meta={error ?? reason}
            >
              {mayChange && status === 'ok' && <Deprecation {...shared} deprecated={reason !== undefined} />}
              {mayChange && <Delete {...shared} last={statuses.length === 1} />}
            </Item>
          );
        }}
      </List>
    </section>
  );
};

const Publish = ({ address, onClose }: { address: ModuleAddress; onClose(): void }) => {
  const source = useSignal<Picked | undefined>(undefined);
  const submit = async (_: FormData, { version }: Values) => {
    if (!source.value) throw new Error('Choose the folder with the files of the module.');
    await uploadModule(apiPath(address), String(version), source.value);
  };
  return (
    <FormDialog title="Publish a version" submit="Publish" onSubmit={submit} onClose={onClose}>
      <VersionFields source={source} />
    </FormDialog>
  );
};

interface VersionProps {
  address: ModuleAddress;
  version: string;
  onDone(): void;
}

const pathOf = (address: ModuleAddress, version: string): string =>
  `${apiPath(address)}/${encodeURIComponent(version)}`;

const Deprecation = ({ address, version, deprecated, onDone }: VersionProps & { deprecated: boolean }) => {
  const set = (deprecation: Values) => change(pathOf(address, version), 'registry-module-versions', { deprecation });
  if (deprecated) {
    return (
      <ActionButton
        small
        text="Undo deprecation"
        label={`Undo deprecation of ${version}`}
        work={() => set({ 'deprecated-status': 'Undeprecated' })}
        onDone={onDone}
      />
    );
  }
  return (
    <FormButton
      small
      text="Deprecate"
      of={version}
      title={`Deprecate ${version}?`}
      submit="Deprecate"
      onSubmit={(_, { reason, link }) =>
        set({ 'deprecated-status': 'Deprecated', reason: reason ?? '', link: link ?? '' })
      }
      onClose={onDone}
    >
      <Notice>
        Configurations that use it still work. Recent versions of Terraform warn about it in <code>terraform init</code>
        .
      </Notice>
      <Text label="Reason" name="reason" autoFocus hint="For example: use 2.0.0, which fixes the routes." />
      <Text label="Link" name="link" hint="A page with more information." />
    </FormButton>
  );
};

const Delete = ({ address, version, last, onDone }: VersionProps & { last: boolean }) => (
  <ConfirmButton
    small
    text="Delete"
    of={version}
    title={`Delete version ${version}?`}
    yes="Delete version"
    onYes={async () => {
      await call('DELETE', pathOf(address, version));
      if (last) go({ view: 'modules', organization: address.organization });
    }}
    onClose={onDone}
  >
    <p>
      Configurations that use it fail in <code>terraform init</code>.
      {last && ' It is the only version: the module is deleted with it.'}
    </p>
  </ConfirmButton>
);
