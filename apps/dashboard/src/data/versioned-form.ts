import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { ApiMutation } from './api-mutation.ts';
import type { Problem } from './problem.ts';

/** Incremented on each save. */
type Version = number | string;

/** The server's copy. */
interface Saved<Content> {
  content: Content;
  version: Version;
}

/** A conflict: someone else changed the same fields. The user decides which version to keep. */
export interface Conflict<Content> {
  /** The conflicting fields. */
  fields: (keyof Content)[];
  seesTheirs: boolean;
  /** Toggles between the user's version and theirs. */
  see: (theirs: boolean) => void;
  takeTheirs: () => void;
  keepMine: () => void;
}

/** Saves content based on a version. Resolves to the new version, or undefined if rejected. */
type Save<Content> = (content: Content, version: Version) => Promise<Version | undefined>;

/** What the user edits, and what it is based on. */
interface Edited<Content> {
  base: Saved<Content>;
  mine: Content;
  /** What saves sent that failed. If only the response was lost, the server has saved it. */
  sent: Content[];
}

/** A form with optimistic concurrency. */
export interface VersionedForm<Content> {
  /** The content to show: the user's, unless they are viewing theirs. */
  content: Content;
  set: (part: Partial<Content>) => void;
  isSaved: boolean;
  /** The version this content is based on. */
  version: Version;
  /** The same, also right after a save and before the next render. */
  getVersion: () => Version;
  conflict: Conflict<Content> | undefined;
  /** Why the last save failed, except for an outdated version, which is merged or shown as a conflict. */
  problem: Problem | undefined;
  /**
   * Saves the latest content, one save at a time; false if rejected. Calls `onSaved`, which may close the form, unless more was written
   * meanwhile.
   */
  save: (save: Save<Content>, onSaved?: () => void) => Promise<boolean>;
}

/** Whether the record was changed since it was loaded. */
const isOutdated = (problem: Problem | undefined): boolean =>
  problem?.fields.version !== undefined || problem?.fields.updatedAt !== undefined;

const sameText = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/**
 * Edits a versioned record. When someone else saves it, `read` brings a newer version: their changes merge into
 * untouched fields, and conflicting fields raise a conflict. Typed input is never lost. `mutation` is what saves it, and `units`
 * are fields that must change together.
 */
export function useVersionedForm<Content extends object>(
  read: Saved<Content>,
  {
    mutation: { problem, forget },
    units = [],
    same = sameText,
  }: {
    mutation: Pick<ApiMutation<unknown, never>, 'problem' | 'forget'>;
    units?: (keyof Content)[][];
    same?: (one: unknown, other: unknown) => boolean;
  },
): VersionedForm<Content> {
  const [state, setState] = useState<Edited<Content>>({ base: read, mine: read.content, sent: [] });
  const [seesTheirs, see] = useState(false);
  const [isSaving, setSaving] = useState(false);
  // A save can start before the next render, so it reads the latest state from this ref.
  const now = useRef(state);
  const saving = useRef(Promise.resolve(true));
  const failed = useRef<{ again: () => void; onSaved: (() => void) | undefined }>(undefined);
  const sameContent = (one: Content, other: Content) => keysOf(one).every((key) => same(one[key], other[key]));
  const put = (next: Edited<Content>) => {
    now.current = next;
    setState(next);
  };
  const save = (run: Save<Content>, onSaved?: () => void): Promise<boolean> => {
    saving.current = saving.current.then(async () => {
      setSaving(true);
      const { base, mine } = now.current;
      const version = await run(mine, base.version);
      failed.current = version === undefined ? { again: () => void save(run, onSaved), onSaved } : undefined;
      if (version === undefined) put({ ...now.current, sent: [...now.current.sent, mine] });
      else put({ base: { content: mine, version }, mine: now.current.mine, sent: [] });
      setSaving(false);
      if (version !== undefined && sameContent(mine, now.current.mine)) onSaved?.();
      return version !== undefined;
    });
    return saving.current;
  };

  const isNewer = !isSaving && read.version > state.base.version;
  const merged = isNewer ? merge(state, read.content, { units, same }) : undefined;
  const takeIn = useEffectEvent(() => {
    if (merged?.fields.length !== 0) return;
    put({ base: read, mine: merged.mine, sent: [] });
    const isSaved = sameContent(merged.mine, read.content);
    if (!isSaved && isOutdated(problem)) failed.current?.again();
    // Only the response was lost. Saving again would save what has been typed since, unasked.
    else if (isSaved || state.sent.some((each) => sameContent(each, read.content))) {
      forget();
      if (isSaved) failed.current?.onSaved?.();
      failed.current = undefined;
    }
  });
  useEffect(() => {
    if (isNewer) takeIn();
  }, [isNewer, read.version]);

  const decide = (mine: Content) => {
    failed.current = undefined;
    put({ base: read, mine, sent: [] });
    see(false);
  };
  const conflict =
    merged === undefined || merged.fields.length === 0
      ? undefined
      : {
          fields: merged.fields,
          seesTheirs,
          see,
          takeTheirs: () => decide(merged.theirs),
          keepMine: () => decide(merged.mine),
        };
  return {
    content: conflict?.seesTheirs === true && merged !== undefined ? merged.theirs : state.mine,
    set: (part) => {
      // Editors also report text set programmatically, such as theirs.
      if (conflict?.seesTheirs !== true) put({ ...now.current, mine: { ...now.current.mine, ...part } });
    },
    isSaved: sameContent(state.mine, state.base.content),
    version: state.base.version,
    getVersion: () => now.current.base.version,
    conflict,
    problem: isOutdated(problem) ? undefined : problem,
    save,
  };
}

/** Computes the fields both changed since the base, and the merge for keeping mine or theirs. */
function merge<Content extends object>(
  { base: { content: base }, mine, sent }: Edited<Content>,
  theirs: Content,
  { units, same }: { units: (keyof Content)[][]; same: (one: unknown, other: unknown) => boolean },
): { fields: (keyof Content)[]; mine: Content; theirs: Content } {
  const differs = (unit: (keyof Content)[], one: Content, other: Content) =>
    unit.some((key) => !same(one[key], other[key]));
  const own = unitsOf(mine, units).filter((unit) => differs(unit, mine, base) && differs(unit, mine, theirs));
  const clashing = own.filter((unit) => [base, ...sent].every((known) => differs(unit, theirs, known)));
  const take = (taken: (keyof Content)[][]) =>
    Object.assign({ ...theirs }, ...taken.flat().map((key) => ({ [key]: mine[key] }))) as Content;
  return {
    fields: clashing.map(([first]) => first as keyof Content),
    mine: take(own),
    theirs: take(own.filter((unit) => !clashing.includes(unit))),
  };
}

function unitsOf<Content extends object>(content: Content, units: (keyof Content)[][]): (keyof Content)[][] {
  const bound = new Set(units.flat());
  const alone = keysOf(content).filter((key) => !bound.has(key));
  return [...units, ...alone.map((key) => [key])];
}

const keysOf = <Content extends object>(content: Content) => Object.keys(content) as (keyof Content)[];
