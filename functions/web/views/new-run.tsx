import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Resource } from '../../cli/client.ts';
import { go } from '../location.ts';
import { Notice } from '../parts/basics.tsx';
import { Choice, Dialog, Form, Text, textOf } from '../parts/form.tsx';
import { call, create, saying } from '../session.ts';
import { type Picked, picked, upload } from '../upload.ts';

type Kind = 'plan_and_apply' | 'plan_only' | 'refresh_only' | 'destroy' | 'empty_apply';

const kinds: [Kind, string, string][] = [
  ['plan_and_apply', 'Plan and apply', 'The usual: shows what will change, then asks.'],
  ['plan_only', 'Plan only', 'Shows what would change. Never applies, waits for nobody.'],
  ['refresh_only', 'Refresh state', 'Brings the state up to date with what really is there; changes nothing else.'],
  ['destroy', 'Destroy', 'Plans the end of everything in this workspace, then asks.'],
  ['empty_apply', 'Allow empty apply', 'Applies even without changes, e.g. to upgrade the state’s format.'],
];

const optionsOf: Record<Kind, Record<string, boolean>> = {
  plan_and_apply: {},
  plan_only: { 'plan-only': true },
  refresh_only: { 'refresh-only': true },
  destroy: { 'is-destroy': true },
  empty_apply: { 'allow-empty-apply': true },
};

/** `aws_vpc.main, module.a.b.c[0]`, one to a line or between commas outside of brackets. */
const addresses = (text: string | undefined): string[] | undefined => {
  const found = (text ?? '')
    .split(/[\n]|,(?![^[]*\])/)
    .map((one) => one.trim())
    .filter(Boolean);
  return found.length ? found : undefined;
};

export const NewRun = ({
  workspace,
  organization,
  onClose,
}: {
  workspace: Resource;
  organization: string;
  onClose(): void;
}) => {
  const kind = useSignal<Kind>('plan_and_apply');
  const source = useSignal<Picked | undefined>(undefined);
  const hasConfiguration = useSignal<boolean | undefined>(undefined);
  const { name, permissions } = workspace.attributes;
  useEffect(() => {
    call<Resource[]>('GET', `/workspaces/${workspace.id}/configuration-versions?page[size]=20`).then(
      ({ data }) => {
        hasConfiguration.value = data.some(
          ({ attributes }) => attributes.status === 'uploaded' && !attributes.speculative,
        );
      },
      () => {
        hasConfiguration.value = true;
      },
    );
  }, [workspace.id, hasConfiguration]);
  const submit = async (data: FormData) => {
    const versionId = source.value && (await upload(workspace.id, source.value, kind.value === 'plan_only'));
    const run = await create(
      '/runs',
      'runs',
      {
        message: textOf(data, 'message') ?? 'Started on the web page',
        ...optionsOf[kind.value],
        ...(data.has('auto-apply') ? { 'auto-apply': true } : {}),
        ...(data.has('no-refresh') ? { refresh: false } : {}),
        'target-addrs': addresses(textOf(data, 'targets')),
        'replace-addrs': addresses(textOf(data, 'replacements')),
      },
      {
        workspace: { data: { type: 'workspaces', id: workspace.id } },
        ...(versionId ? { 'configuration-version': { data: { type: 'configuration-versions', id: versionId } } } : {}),
      },
    );
    go({ view: 'run', organization, workspace: name, run: run.id });
  };
  const allowed = kinds.filter(
    ([one]) => one === 'plan_only' || permissions['can-queue-apply'] || one === 'plan_and_apply',
  );
  const missing = hasConfiguration.value === false && !source.value;
  return (
    <Dialog title={`Start a run in ${name}`} onClose={onClose}>
      <Form
        submit="Start run"
        danger={kind.value === 'destroy'}
        disabled={missing}
        onSubmit={submit}
        onCancel={onClose}
      >
        <Text label="Message" name="message" autoFocus placeholder="Why this run?" />
        <fieldset>
          <legend>What it does</legend>
          {allowed.map(([one, label, hint]) => (
            <Choice
              key={one}
              type="radio"
              name="kind"
              value={one}
              label={label}
              hint={hint}
              checked={one === 'plan_and_apply'}
              onChange={() => (kind.value = one)}
            />
          ))}
        </fieldset>
        <Source picked={source} needed={hasConfiguration.value === false} />
        <details>
          <summary>More options</summary>
          <div class="stack">
            {permissions['can-queue-apply'] && (
              <Choice
                name="auto-apply"
                label="Apply without asking"
                hint="If the plan has changes, apply them at once."
              />
            )}
            <Choice
              name="no-refresh"
              label="Do not refresh"
              hint="Plan from the state as it is, without asking the providers."
            />
            <Text label="Only these resources" name="targets" lines={2} hint="Addresses, one to a line (-target)." />
            <Text
              label="Replace these resources"
              name="replacements"
              lines={2}
              hint="Addresses, one to a line (-replace)."
            />
          </div>
        </details>
      </Form>
    </Dialog>
  );
};

const Source = ({ picked: source, needed }: { picked: { value: Picked | undefined }; needed: boolean }) => {
  const error = useSignal<string | undefined>(undefined);
  const folder = useRef<HTMLInputElement>(null);
  const files = useRef<HTMLInputElement>(null);
  const take = (input: HTMLInputElement | null) => {
    error.value = undefined;
    try {
      source.value = picked([...(input?.files ?? [])]);
    } catch (caught) {
      error.value = saying(caught);
    }
  };
  return (
    <div class="field">
      <span class="label">Configuration</span>
      <p class="soft small">
        {source.value ? (
          <>
            Uploads <strong>{source.value.name}</strong> when you start the run.
          </>
        ) : needed ? (
          'This workspace has none yet. Pick the folder with your .tf files, or an archive (.tar.gz).'
        ) : (
          'The latest one of this workspace. Or pick another:'
        )}
      </p>
      <div class="row">
        <button type="button" class="small-button" onClick={() => folder.current?.click()}>
          Pick a folder
        </button>
        <button type="button" class="small-button" onClick={() => files.current?.click()}>
          Pick files or an archive
        </button>
        <input
          ref={folder}
          type="file"
          hidden
          aria-label="Folder with the configuration"
          // The attribute has no standard name, and every browser knows it.
          {...{ webkitdirectory: true }}
          onChange={(event) => take(event.currentTarget)}
        />
        <input
          ref={files}
          type="file"
          hidden
          multiple
          aria-label="Files of the configuration"
          onChange={(event) => take(event.currentTarget)}
        />
      </div>
      {error.value && <Notice kind="bad">{error.value}</Notice>}
    </div>
  );
};
