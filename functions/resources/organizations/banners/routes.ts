import { type Answer, created, noContent, ok } from '#api/answer.ts';
import { conflict, notFound, unprocessable } from '#api/errors.ts';
import { param } from '#api/finders.ts';
import { type Call, type Route, userRoute } from '#api/route.ts';
import { newId } from '#platform/store/id.ts';
import { now } from '#platform/store/time.ts';
import { isOperator } from '../admission-rules.ts';
import { bannerDocument } from './document.ts';
import { checkSchedule, readBannerChange, readNewBanner } from './input.ts';
import { type Banner, changeBanners, endTime, listBanners, publishTime } from './records.ts';

/** Banners, for operators only (Terraform Enterprise API: admin banners). Other callers get 404. */

const missing = (id: string) => notFound(`Banner${id && ` ${id}`} not found, or you don't have access.`);

const change = async (work: (banners: Banner[]) => Banner[]): Promise<Banner[]> => {
  const banners = await changeBanners(work);
  if (!banners) throw conflict('Banners were changed by other requests at the same time. Try again.');
  return banners;
};

const isOver = (banner: Banner, at: string): boolean => (endTime(banner) ?? '~') <= at;

const create = async ({ request, principal }: Call): Promise<Answer> => {
  if (!(await isOperator(principal))) throw missing('');
  const at = now();
  const banner: Banner = { ...readNewBanner(request), id: newId('ab'), createdAt: at, deactivatedAt: null };
  // A banner scheduled for later replaces the current one at that time.
  const replaces = publishTime(banner) <= at;
  const ended = (stored: Banner): Banner =>
    replaces && publishTime(stored) <= at && !isOver(stored, at) ? { ...stored, deactivatedAt: at } : stored;
  await change((banners) => [banner, ...banners.map(ended)]);
  return created(bannerDocument(banner, at));
};

/** @throws {ApiError} 404 */
const requestedBanner = async ({ request, principal }: Call): Promise<Banner> => {
  const id = param(request, 'banner');
  // Both are read for every caller, so that response times do not reveal which banners exist.
  const [banners, may] = await Promise.all([listBanners(), isOperator(principal)]);
  const banner = banners.find((candidate) => candidate.id === id);
  if (!banner || !may) throw missing(id);
  return banner;
};

const update = async (call: Call): Promise<Answer> => {
  const { id } = await requestedBanner(call);
  const values = readBannerChange(call.request);
  const at = now();
  const banners = await change((all) =>
    all.map((banner) => {
      if (banner.id !== id) return banner;
      if (isOver(banner, at)) throw unprocessable('/data', `Banner ${id} is deactivated. Create another one`);
      const changed = { ...banner, ...values };
      checkSchedule(changed);
      return changed;
    }),
  );
  const changed = banners.find((banner) => banner.id === id);
  if (!changed) throw missing(id);
  return ok(bannerDocument(changed, at));
};

const deactivate = async (call: Call): Promise<Answer> => {
  const { id } = await requestedBanner(call);
  const at = now();
  await change((all) =>
    all.map((banner) => (banner.id === id && !isOver(banner, at) ? { ...banner, deactivatedAt: at } : banner)),
  );
  return noContent();
};

const path = '/admin/banners/{banner}';

export const bannerRoutes: Route[] = [
  userRoute('POST', '/admin/banners', 'any user', create),
  userRoute('PATCH', path, 'any user', update),
  userRoute('DELETE', path, 'any user', deactivate),
];
