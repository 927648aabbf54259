import type { Resource } from '#clients/client/client.ts';
import { type Live, useLive } from '#clients/web/live.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Ago, Facts, Notice } from '#clients/web/parts/basics.tsx';
import { DialogButton } from '#clients/web/parts/button.tsx';
import { DeleteButton, FormDialog } from '#clients/web/parts/dialog.tsx';
import { Text, textOf } from '#clients/web/parts/fields.tsx';
import { call, find } from '#clients/web/session.ts';

type Export = Resource<'audit-exports'>;

const pathOf = (organization: string): string => `/organizations/${organization}/audit-export`;

/** Null: the trail is not exported. */
export const useAuditExport = (organization: string): Live<Export | null> =>
  useLive(`audit-export/${organization}`, () => find<'audit-exports'>(pathOf(organization)), 30_000);

/** Shown while batches fail. */
export const ExportFailure = ({ current }: { current: Export | null | undefined }) => {
  const { failure, 'failing-since': since } = current?.attributes ?? {};
  return failure && since ? (
    <Notice kind="bad">
      The export began to fail <Ago at={since} />: {failure}. It is retried every minute, and continues where it
      stopped.
    </Notice>
  ) : null;
};

/** Sets up, changes and ends the export to an endpoint. */
export const ExportSettings = ({ organization, live }: OrganizationProps & { live: Live<Export | null> }) => {
  const current = live.value;
  const submit = (data: FormData) => {
    const name = textOf(data, 'header');
    const headers = name ? { [name]: textOf(data, 'credential') ?? '' } : {};
    const attributes = { url: textOf(data, 'url'), headers };
    return call('PUT', pathOf(organization), { data: { type: 'audit-exports', attributes } });
  };
  return (
    <>
      <DialogButton text="Continuous export" onClose={live.refresh}>
        {(close) => (
          <FormDialog
            title="Continuous export"
            submit={current ? 'Replace' : 'Start export'}
            onSubmit={submit}
            onClose={close}
          >
            <p class="soft">
              New events are sent to a URL, such as that of your log collector, a few minutes after they happen: one
              JSON document a line, in numbered batches.
            </p>
            {current && <State {...current.attributes} />}
            <Text label="URL" name="url" required value={current?.attributes.url} />
            <Text
              label="Header"
              name="header"
              value={current?.attributes['header-names'][0]}
              hint="For its credential, e.g. Authorization. Optional."
            />
            <Text
              label="Value of the header"
              name="credential"
              type="password"
              hint="Stored encrypted. Enter it again with each change."
            />
          </FormDialog>
        )}
      </DialogButton>
      {current && (
        <DeleteButton text="End export" of="" noun="export" path={pathOf(organization)} onClose={live.refresh}>
          Events are not sent any more. They stay in the trail.
        </DeleteButton>
      )}
    </>
  );
};

const State = ({ sequence, 'delivered-at': at, 'header-names': headers }: Export['attributes']) => (
  <Facts
    facts={[
      ['Last batch', sequence],
      ['Delivered', at ? <Ago at={at} /> : 'not yet'],
      headers.length > 1 && ['Headers', headers.join(', ')],
    ]}
  />
);
