import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { ActionButton } from '#clients/web/parts/button.tsx';
import { FormButton } from '#clients/web/parts/dialog.tsx';
import { Text, type Values } from '#clients/web/parts/fields.tsx';
import { call, create, listAtLeast } from '#clients/web/session.ts';
import { parametersOf, type Question, queryOf, questionOf } from '#clients/web/text/explorer.ts';

interface Props extends OrganizationProps {
  question: Question;
  onOpen(question: Question): void;
}

/** Saved views, shared by all users of the explorer. */
export const Views = ({ organization, question, onOpen }: Props) => {
  const path = `/organizations/${organization}/explorer/views`;
  const live = useLive(path, async () => (await listAtLeast(path, 200)).data);
  const views: Resource[] = live.value ?? [];
  const currentQuery = String(parametersOf(question));
  const open = views.find(({ attributes }) => String(parametersOf(questionOf(attributes.query))) === currentQuery);
  const choose = (id: string) => {
    const view = views.find((view) => view.id === id);
    if (view) onOpen(questionOf(view.attributes.query));
  };
  const save = (_: FormData, { name }: Values) =>
    create(path, 'explorer-saved-queries', { name, query: queryOf(question) });
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
        <ActionButton
          key={open.id}
          text="Delete view"
          work={() => call('DELETE', `${path}/${open.id}`)}
          onDone={live.refresh}
        />
      ) : (
        <FormButton text="Save view" title="Save view" submit="Save view" onSubmit={save} onClose={live.refresh}>
          <Text
            label="Name"
            name="name"
            required
            hint="Visible to everyone who can use the explorer of this organization."
          />
        </FormButton>
      )}
    </>
  );
};
