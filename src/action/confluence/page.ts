// Pages as the actions know them, and the interface that both editions of Confluence fill.

import { z } from 'zod';

export interface Wiki {
  /** The page of this title; titles are unique within a space. */
  find(place: { readonly space: string; readonly title: string }): Promise<FoundPage | null>;
  get(pageId: string): Promise<PageContent>;
  create(page: NewPage): Promise<PageAddress>;
  update(page: PageRevision): Promise<PageAddress>;
  /** The owner of the credential, as in `createdBy`. */
  me(): Promise<string>;
}

export interface PageAddress {
  readonly pageId: string;
  readonly url: string;
}

interface FoundPage extends PageAddress {
  readonly createdBy: string;
  readonly createdAt: string;
}

interface PageContent extends PageAddress {
  readonly title: string;
  readonly version: number;
  readonly versionMessage: string;
  /** In storage format. */
  readonly body: string;
}

interface NewPage {
  readonly space: string;
  readonly title: string;
  readonly body: string;
  readonly parentId: string | undefined;
}

export interface PageRevision {
  readonly pageId: string;
  readonly title: string;
  readonly body: string;
  readonly version: number;
  readonly versionMessage: string;
}

/** Part of a URL, so nothing but digits. */
export const pageId = z
  .union([z.string().regex(/^\d+$/, 'expected a numeric id'), z.int().positive()])
  .transform(String);
export const spaceKey = z.string().regex(/^~?[\w.:-]+$/, 'expected the key of a space, such as "PROJECTS"');
export const pageTitle = z.string().min(1).max(255);
/** Confluence's XHTML ("storage format"). Plain HTML with headings, paragraphs, lists and tables is valid too. */
export const pageBody = z.string();
export const pageAddress = z.object({ pageId: z.string(), url: z.string() });

/** Links of an answer: `webui` is relative to `base`, which a list gives once. */
export const links = z.object({ base: z.string().optional(), webui: z.string() });
export const listLinks = z.object({ base: z.string().optional() }).default({});

export function pageUrl({ base, webui }: z.output<typeof links>, fallback: string): string {
  return `${base ?? fallback}${webui}`;
}
