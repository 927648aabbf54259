import { asEdit, type Edited, type Editor } from '#platform/store/edits.ts';
import { newId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { create, get, queryAll, remove, update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { Query } from './query.ts';

/**
 * A named query, available to all users with permission to explore the organization (HCP API: explorer, saved views).
 */
export interface View extends Edited {
  id: string;
  organization: string;
  name: string;
  query: Query;
  createdAt: string;
  createdBy: string;
}

/** Maximum number in an organization. */
export const maxViews = 200;

const living = 'attribute_exists(pk)';

export const getView = (organization: string, id: string): Promise<View | undefined> =>
  get<View>(keys.explorerView(organization, id));

/** Ordered by name. */
export const listViews = async (organization: string): Promise<View[]> => {
  const { pk, sk: prefix } = keys.explorerView(organization, '');
  return (await queryAll<View>({ pk, prefix })).sort((a, b) => (a.name < b.name ? -1 : 1));
};

export const createView = async (
  values: Pick<View, 'organization' | 'name' | 'query' | 'createdBy'>,
): Promise<View> => {
  const view: View = { ...values, id: newId('sq'), createdAt: now() };
  await create({ ...keys.explorerView(view.organization, view.id), ...view });
  return view;
};

/** Undefined when it was deleted, or changed since the editor read it. */
export const updateView = (
  { organization, id }: View,
  set: Partial<Pick<View, 'name' | 'query'>>,
  editor: Editor,
): Promise<View | undefined> =>
  update<View>(keys.explorerView(organization, id), asEdit({ set, condition: living }, editor));

export const deleteView = ({ organization, id }: View): Promise<boolean> => remove(keys.explorerView(organization, id));
