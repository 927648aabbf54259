import type { Answer } from '#api/answer.ts';
import { badRequest } from '#api/errors.ts';
import { includable } from '#api/include.ts';
import { isNamed, nameOf } from '#api/naming.ts';
import { list, pageOf, pageSlice } from '#api/pagination.ts';
import { ofConsumer } from '#api/permissions/granted.ts';
import type { ApiRequest } from '#api/request.ts';
import type { Context } from '#api/route.ts';
import type { InOrganization } from '#resources/organizations/finder.ts';
import { producersAmong } from '#resources/organizations/module-sharing.ts';
import { findOrganization } from '#resources/organizations/records.ts';
import { addressOf, moduleDocument } from './document.ts';
import { listModules, type Module, type NoCodeProvisioning } from './records.ts';
import { published } from './uploads.ts';

/** Lists of an organization's modules, with those that others share with it. */

export const include = includable('no_code_modules');

/** Maximum of organizations in a filter: each costs reads. */
const maxNamed = 20;

/** Empty unless the request includes it. */
export const included = async (noCode: NoCodeProvisioning, request: ApiRequest, modules: Module[]) =>
  include.of(request).has('no_code_modules') ? { included: await noCode.documents(modules) } : {};

export const listing =
  (noCode: NoCodeProvisioning) =>
  async (context: Context<InOrganization>): Promise<Answer> => {
    const { request, subject, granted } = context;
    const { query } = request;
    const page = pageOf(request);
    const search = (query.get('q') ?? '').toLowerCase();
    const filters: [string | null, (module: Module) => string][] = [
      [query.get('filter[registry_name]'), ({ registry }) => registry],
      [query.get('filter[provider]'), ({ provider }) => provider],
      [query.get('filter[organization_name]'), (candidate) => nameOf(candidate.organization)],
    ];
    const named = query
      .get('filter[organization_name]')
      ?.split(',')
      .filter((name) => !isNamed(subject.organization, name));
    if (named && named.length > maxNamed) {
      throw badRequest(
        `filter[organization_name] can name at most ${maxNamed} other organizations.`,
        'filter[organization_name]',
      );
    }
    const requested = await Promise.all((named ?? []).map(findOrganization));
    const producers = [...(subject.record.moduleProducers ?? []), ...requested.flatMap((one) => one?.name ?? [])];
    const others = await producersAmong(producers, subject.record);
    const owners = [subject.organization, ...new Set(others.map(({ name }) => name))];
    const isOwn = ({ organization }: Module) => organization === subject.organization;
    const all = (await Promise.all(owners.map(listModules)))
      .flat()
      .filter(
        (module) =>
          (isOwn(module) || module.registry === 'private') &&
          addressOf(module).toLowerCase().includes(search) &&
          filters.every(([value, of]) => !value || value.split(',').includes(of(module))),
      );
    const shown = await Promise.all(pageSlice(all, page).map(published));
    const related = await included(noCode, request, shown.map(({ module }) => module).filter(isOwn));
    return list(
      request,
      page,
      all.length,
      shown.map((item) => moduleDocument(item, isOwn(item.module) ? granted : ofConsumer)),
      related.included,
    );
  };
