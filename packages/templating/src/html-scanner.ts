import { decodeEntities } from './entities.ts';
import type { Context } from './template.ts';

type State = 'text' | 'comment' | 'markup' | 'tag-name' | 'tag' | 'attribute-name' | 'before-value' | 'value' | 'raw';

const URL_ATTRIBUTES = new Set(
  'href src srcset action formaction background cite poster longdesc data codebase lowsrc dynsrc xlink:href'.split(' '),
);
/** Elements with raw text content, and the pattern that ends each. */
const RAW_ENDS = new Map(
  'script style title textarea xmp iframe noembed noframes'
    .split(' ')
    .map((name) => [name, new RegExp(`</${name}`, 'gi')]),
);
/** Allowed link schemes; `cid` refers to an image in the same message. */
export const SAFE_SCHEMES = new Set(['http', 'https', 'mailto', 'tel', 'sms', 'cid']);
const ADDRESS_SCHEMES = new Set(['mailto', 'tel', 'sms']);
/** Stands for a variable in the text of a link. It is a noncharacter, which no source may contain. */
const VARIABLE = '\uffff';
/** Text that ends where a URL in a style begins, so that the variable after it is the whole URL. */
const STYLE_URL = /(?:^|[^\w-])url\(\s*(?:["']|&quot;|&#39;|&apos;)?$/i;
/** No known scheme is longer. */
const MAX_SCHEME_LENGTH = 32;

/**
 * The part of a link that has been read, as far as it decides how its variables are escaped. Scans each character once,
 * regardless of the number of variables; its size is constant, so that branches can copy it.
 */
class LinkPrefix {
  /** How the link starts. */
  start: 'nothing' | 'text' | 'variable' = 'nothing';
  /** Whether a `?` or a `#` has been read. */
  hasQuery = false;
  /** The first of `:`, `/`, `?` and `#`; before it, the scheme is unknown. */
  separator = '';
  /** The text before a `:` that is the first separator. */
  scheme: string | undefined;
  /** The start of the text before the first separator. */
  head = '';
  /** Whether branches ended in different parts of the link, so that no later variable can be escaped for its place. */
  isAmbiguous = false;

  addText(written: string): void {
    if (this.hasQuery && this.separator !== '') return;
    const text = decodeEntities(written);
    this.hasQuery ||= /[?#]/.test(text);
    // eslint-disable-next-line no-control-regex -- browsers skip these before a URL
    if (this.start === 'nothing' && /[^\u0000-\u0020]/.test(text)) this.start = 'text';
    if (this.separator !== '') return;
    const end = text.search(/[:/?#]/);
    this.#addHead(end === -1 ? text : text.slice(0, end));
    if (end !== -1) this.#endHead(text[end]!);
  }

  addVariable(): void {
    if (this.start === 'nothing') this.start = 'variable';
    if (this.separator === '') this.#addHead(VARIABLE);
  }

  copy(): LinkPrefix {
    return Object.assign(new LinkPrefix(), this);
  }

  equals(other: LinkPrefix): boolean {
    return (
      this.start === other.start &&
      this.hasQuery === other.hasQuery &&
      this.separator === other.separator &&
      this.scheme === other.scheme &&
      this.head === other.head &&
      this.isAmbiguous === other.isAmbiguous
    );
  }

  #addHead(text: string): void {
    // eslint-disable-next-line no-control-regex -- as above
    this.head = (this.head + text.replace(/[\u0000-\u0020\s]+/g, '')).slice(0, MAX_SCHEME_LENGTH);
  }

  #endHead(separator: string): void {
    this.separator = separator;
    if (separator === ':') this.scheme = this.head.toLowerCase();
    this.head = '';
  }
}

/** Where the scanner is, so that each branch of a tag starts at the same place. */
export interface ScannerState {
  readonly state: State;
  readonly tag: string;
  readonly attribute: string;
  readonly quote: string;
  readonly link: LinkPrefix;
  readonly linkStart: number;
}

/**
 * Tokenizes a template's HTML like a browser, as far as needed to choose each variable's escaping. Conditional comments
 * are parsed as markup, as Outlook does; a value can't end them, because `>` is escaped.
 */
export class HtmlScanner {
  #state: State = 'text';
  #tag = '';
  #attribute = '';
  /** The closing quote of the value, or '' if it is unquoted. */
  #quote = '';
  #link = new LinkPrefix();
  /** The offset of a variable that starts the current link. */
  #linkStart = -1;
  /** The end of the static text of a style, right before the next variable. */
  #styleEnd = '';
  readonly #report: (position: number, message: string) => void;

  constructor(report: (position: number, message: string) => void) {
    this.#report = report;
  }

  /** Reads static text up to the next variable. */
  read(html: string): void {
    let at = 0;
    while (at < html.length) at = this.#readToken(html, at);
  }

  /** The escaping context at this point; reports contexts that no escaping makes safe. */
  contextAt(position: number): Context {
    switch (this.#state) {
      case 'text':
      case 'comment':
        return 'html';
      case 'raw':
        if (this.#tag === 'script') return this.#reject(position, 'A script cannot contain a placeholder.');
        return this.#tag === 'style' ? 'css' : 'html';
      case 'value':
        return this.#contextInValue(position);
      case 'before-value':
        return this.#reject(position, `Put quotes around the value of "${this.#attribute}".`);
      default:
        return this.#reject(position, 'Inside a tag, a placeholder is only allowed in a quoted attribute value.');
    }
  }

  /** The state at a tag, which must stand where it selects whole pieces of markup. */
  stateAt(position: number): ScannerState {
    this.#styleEnd = '';
    // Space after an attribute's name or not, the branch adds whole attributes.
    if (this.#state === 'attribute-name') this.#state = 'tag';
    const isUnquoted = this.#state === 'value' && this.#quote === '';
    if (isUnquoted || ['markup', 'tag-name', 'before-value'].includes(this.#state)) {
      this.#report(position, 'A tag is only allowed in text, between attributes or in a quoted attribute value.');
    }
    return {
      state: this.#state,
      tag: this.#tag,
      attribute: this.#attribute,
      quote: this.#quote,
      link: this.#link.copy(),
      linkStart: this.#linkStart,
    };
  }

  /** Continues from a state, for the next branch. */
  restore(from: ScannerState): void {
    this.#state = from.state;
    this.#tag = from.tag;
    this.#attribute = from.attribute;
    this.#quote = from.quote;
    this.#link = from.link.copy();
    this.#linkStart = from.linkStart;
  }

  /**
   * Continues after a block whose branches ended in these states. They must be in the same part of the HTML, as what
   * follows is escaped for it.
   * @param isLoop whether one branch can follow another, so that it must not change what a link's values may be.
   */
  join(position: number, ends: readonly ScannerState[], isLoop: boolean): void {
    const [first, ...others] = ends as [ScannerState, ...ScannerState[]];
    const isSame = others.every(
      (end) =>
        end.state === first.state &&
        (first.state === 'text' ||
          (end.tag === first.tag &&
            (first.state !== 'value' || (end.attribute === first.attribute && end.quote === first.quote)))),
    );
    if (!isSame) {
      this.#report(position, 'Each branch of this tag must close the quotes, tags and comments that it opens.');
      return;
    }
    // The scheme may still come from a value: keep that branch, so that a later ":" is noticed.
    this.restore(ends.find(({ link }) => link.start === 'variable' && link.separator === '') ?? first);
    this.#linkStart = Math.max(...[first, ...others].map((end) => end.linkStart));
    if (first.state !== 'value' || !URL_ATTRIBUTES.has(first.attribute)) return;
    if (others.every((end) => end.link.equals(first.link))) return;
    if (isLoop) this.#report(position, 'In a link, a loop is only allowed after the "?".');
    this.#link.isAmbiguous = true;
  }

  /** Reports a place where no escaping makes a variable safe. */
  #reject(position: number, message: string): 'nowhere' {
    this.#report(position, message);
    return 'nowhere';
  }

  #contextInValue(position: number): Context {
    const name = this.#attribute;
    if (this.#quote === '') return this.#reject(position, `Put quotes around the value of "${name}".`);
    if (name.startsWith('on') || name === 'srcdoc') {
      return this.#reject(position, `"${name}" runs code, so it cannot contain a placeholder.`);
    }
    if (name === 'style') {
      const isUrl = STYLE_URL.test(this.#styleEnd);
      this.#styleEnd = '';
      return isUrl ? 'css-url' : 'css';
    }
    if (!URL_ATTRIBUTES.has(name)) return 'html';
    const context = this.#contextInUrl(position);
    this.#link.addVariable();
    return context;
  }

  #contextInUrl(position: number): Context {
    const { start, scheme, hasQuery, isAmbiguous } = this.#link;
    if (isAmbiguous) {
      return this.#reject(
        position,
        'The branches before this placeholder end in different parts of the link; write the whole link in each.',
      );
    }
    if (start === 'nothing') {
      this.#linkStart = position;
      return 'url';
    }
    if (start === 'variable') return 'url-query';
    if (scheme !== undefined && !SAFE_SCHEMES.has(scheme)) {
      return this.#reject(position, `A "${scheme}:" link cannot contain a placeholder.`);
    }
    if (hasQuery) return 'url-query';
    return scheme !== undefined && ADDRESS_SCHEMES.has(scheme) ? 'url-address' : 'url-path';
  }

  #endValue(): void {
    if (this.#linkStart !== -1 && this.#link.separator === ':') {
      this.#report(this.#linkStart, 'A placeholder cannot set the scheme of a link; write "https:" before it.');
    }
    this.#linkStart = -1;
    this.#link = new LinkPrefix();
    this.#state = 'tag';
  }

  /** Reads one token or a run of text, and returns its end. */
  #readToken(html: string, at: number): number {
    const char = html[at]!;
    switch (this.#state) {
      case 'text':
        return this.#readText(html, at);
      case 'comment':
        return this.#skipPast(html, at, /--!?>/g);
      case 'markup':
        return this.#skipPast(html, at, />/g);
      case 'raw':
        return this.#readRaw(html, at);
      case 'tag-name':
        if (/[\s/>]/.test(char)) return this.#enter('tag', at);
        this.#tag += char.toLowerCase();
        return at + 1;
      case 'tag':
        if (char === '>') return this.#enter(RAW_ENDS.has(this.#tag) ? 'raw' : 'text', at + 1);
        if (/[\s/]/.test(char)) return at + 1;
        this.#attribute = '';
        return this.#enter('attribute-name', at);
      case 'attribute-name':
        return this.#readAttributeName(html, at);
      case 'before-value':
        if (/\s/.test(char)) return at + 1;
        if (char === '>') return this.#enter('tag', at);
        this.#quote = char === '"' || char === "'" ? char : '';
        return this.#enter('value', this.#quote === '' ? at : at + 1);
      case 'value':
        return this.#readValue(html, at);
    }
  }

  #enter(state: State, at: number): number {
    this.#state = state;
    return at;
  }

  #readText(html: string, at: number): number {
    const open = html.indexOf('<', at);
    if (open === -1) return html.length;
    if (html.startsWith('<!--', open)) {
      const conditional = /^<!--\s*\[if[^>]*>/i.exec(html.slice(open, open + 200));
      // Starts at the dashes, because "<!-->" is a complete comment.
      return conditional ? open + conditional[0].length : this.#enter('comment', open + 2);
    }
    if (/^<[!?]/.test(html.slice(open, open + 2))) return this.#enter('markup', open + 1);
    // A "<" right before a variable opens a tag whose name would come from the value.
    const tag = /^<\/?(?=[a-z]|$)/i.exec(html.slice(open, open + 3));
    if (!tag) return open + 1;
    this.#tag = tag[0] === '</' ? '/' : '';
    return this.#enter('tag-name', open + tag[0].length);
  }

  #skipPast(html: string, at: number, end: RegExp): number {
    end.lastIndex = at;
    return end.test(html) ? this.#enter('text', end.lastIndex) : html.length;
  }

  #readRaw(html: string, at: number): number {
    const end = RAW_ENDS.get(this.#tag)!;
    end.lastIndex = at;
    const found = end.exec(html);
    return found === null ? html.length : this.#enter('text', found.index);
  }

  #readAttributeName(html: string, at: number): number {
    const char = html[at]!;
    if (char === '=' && this.#attribute !== '') return this.#enter('before-value', at + 1);
    if (char === '>' || char === '/') return this.#enter('tag', at);
    if (/\s/.test(char)) {
      const equals = /^\s*=/.exec(html.slice(at));
      return equals ? this.#enter('before-value', at + equals[0].length) : this.#enter('tag', at);
    }
    this.#attribute += char.toLowerCase();
    return at + 1;
  }

  #readValue(html: string, at: number): number {
    if (this.#quote === '') {
      if (html[at] === '>' || /\s/.test(html[at]!)) {
        this.#endValue();
        return at;
      }
      return at + 1;
    }
    const close = html.indexOf(this.#quote, at);
    if (URL_ATTRIBUTES.has(this.#attribute)) this.#link.addText(html.slice(at, close === -1 ? html.length : close));
    if (this.#attribute === 'style') this.#styleEnd = close === -1 ? html.slice(Math.max(at, html.length - 100)) : '';
    if (close === -1) return html.length;
    this.#endValue();
    return close + 1;
  }
}
