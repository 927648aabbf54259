import { useSignal } from '@preact/signals';
import type { Resource } from '../client/client.ts';
import type { ResourceType } from '../client/documents.ts';
import type { Live } from './live.ts';
import { get } from './session.ts';

/**
 * What of a list is being made, changed or deleted.
 * @param path of the resources, e.g. `/tasks`
 */
export const useEditing = <T extends ResourceType>(path: string, { refresh }: Live<Resource<T>[]>) => {
  const editing = useSignal<Resource<T> | 'new' | undefined>(undefined);
  const deleting = useSignal<Resource<T> | undefined>(undefined);
  return {
    editing,
    deleting,
    // Lists have no tags of settings, by which the API tells who has seen what.
    edit: ({ id }: Resource<T>) =>
      get<T>(`${path}/${id}`).then(
        (record) => {
          editing.value = record;
        },
        // It is gone, or the platform does not answer: the list says so.
        () => refresh(),
      ),
    close: () => {
      editing.value = undefined;
      deleting.value = undefined;
      refresh();
    },
  };
};
