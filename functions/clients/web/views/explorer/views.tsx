import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { useAction } from '#clients/web/parts/action.tsx';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Form, Text, textOf } from '#clients/web/parts/form.tsx';
import { call, create, listAtLeast } from '#clients/web/session.ts';
import { parametersOf, type Question, queryOf, questionOf } from '#clients/web/text/explorer.ts';

interface Props {
  organization: string;
  question: Question;
  onOpen(question: Question): void;
}

/** Saved views, shared by all users of the explorer. */
export const Views = ({ organization, question, onOpen }: Props) => {
  const path = `/organizations/${organization}/explorer/views`;
  const saving = useSignal(false);
  const { failure, perform } = useAction();
  const live = useLive(
    `explorer-views/${organization}`,
    async () => (await listAtLeast(path, 200)).data,
    () => undefined,
  );
  const views: Resource[] = live.value ?? [];
  const currentQuery = String(parametersOf(question));
  const open = views.find(({ attributes }) => String(parametersOf(questionOf(attributes.query))) === currentQuery);
  const choose = (id: string) => {
    const view = views.find((view) => view.id === id);
    if (view) onOpen(questionOf(view.attributes.query));
  };
  const save = async (data: FormData) => {
    await create(path, 'explorer-saved-queries', { name: textOf(data, 'name'), query: queryOf(question) });
    saving.value = false;
    live.refresh();
  };
  const remove = async (view: Resource) => {
    if (await perform(() => call('DELETE', `${path}/${view.id}`))) live.refresh();
  };
  return (
    <>
      {views.length > 0 && (
        <select aria-label="Saved views" value={open?.id ?? ''} onChange={(event) => choose(event.currentTarget.value)}>
          <option value="">Saved views</option>
          {views.map(({ id, attributes }) => (
            <option key={id} value={id}>
              {attributes.name}
            </option>
          ))}
        </select>
      )}
      {open ? (
        <button type="button" onClick={() => remove(open)}>
          Delete view
        </button>
      ) : (
        <button type="button" onClick={() => (saving.value = true)}>
          Save view
        </button>
      )}
      {failure}
      {saving.value && (
        <Dialog title="Save view" onClose={() => (saving.value = false)}>
          <Form submit="Save view" onSubmit={save}>
            <Text
              label="Name"
              name="name"
              required
              hint="Visible to everyone who can use the explorer of this organization."
            />
          </Form>
        </Dialog>
      )}
    </>
  );
};
