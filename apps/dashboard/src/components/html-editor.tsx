import { autocompletion, type CompletionContext } from '@codemirror/autocomplete';
import { html } from '@codemirror/lang-html';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState, type Text } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { basicSetup } from 'codemirror';
import { type Ref, useEffect, useEffectEvent, useImperativeHandle, useRef } from 'react';
import type { ContentFormat } from '../generated/graphql.ts';
import type { ContentProblem } from './content-check.ts';
import { MJML_TAGS } from './mjml-tags.ts';

export interface Placeholder {
  /** What the braces hold, such as `name`. */
  key: string;
  label: string;
}

export interface EditorHandle {
  /** Puts a text where the cursor is, and the cursor behind it. */
  insert: (text: string) => void;
  /** Puts the cursor where a problem is. */
  show: (problem: ContentProblem) => void;
}

interface HtmlEditorProps {
  value: string;
  format: ContentFormat;
  label: string;
  placeholders: Placeholder[];
  /** What is wrong with the text, to be shown at its lines. */
  problems: readonly ContentProblem[];
  readOnly?: boolean;
  onChange: (value: string) => void;
  ref?: Ref<EditorHandle>;
}

/** Colours come from the theme's variables, so that they follow the scheme. */
const COLORS = HighlightStyle.define([
  { tag: [tags.tagName, tags.angleBracket], color: 'var(--editor-tag)' },
  { tag: tags.attributeName, color: 'var(--editor-name)' },
  { tag: [tags.attributeValue, tags.string], color: 'var(--editor-string)' },
  { tag: [tags.comment, tags.documentMeta], color: 'var(--editor-comment)' },
  { tag: [tags.keyword, tags.propertyName], color: 'var(--editor-name)' },
  { tag: [tags.number, tags.color, tags.unit], color: 'var(--editor-number)' },
]);

/** An editor for HTML and MJML. Tab indents; Escape and then Tab leaves it. */
export default function HtmlEditor({
  value,
  format,
  label,
  placeholders,
  problems,
  readOnly = false,
  onChange,
  ref,
}: HtmlEditorProps) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const tellChange = useEffectEvent(onChange);
  const complete = useEffectEvent((context: CompletionContext) => completionsOf(context, placeholders));
  useEffect(() => {
    if (parent.current === null) return undefined;
    const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content ?? '';
    const editor = new EditorView({
      parent: parent.current,
      state: EditorState.create({
        doc: value,
        extensions: [
          basicSetup,
          format === 'mjml' ? html({ extraTags: MJML_TAGS }) : html(),
          lintGutter(),
          syntaxHighlighting(COLORS),
          EditorView.cspNonce.of(nonce),
          EditorView.domEventHandlers({ beforeinput: typeOverSelection }),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          EditorState.readOnly.of(readOnly),
          EditorState.languageData.of(() => [{ autocomplete: (context: CompletionContext) => complete(context) }]),
          autocompletion(),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) tellChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
    // The editor holds the text from here on; what comes from elsewhere is put in below.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [label, format, readOnly]);
  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const { doc } = editor.state;
    editor.dispatch(
      setDiagnostics(
        editor.state,
        problems.map((problem) => diagnosticOf(problem, doc)),
      ),
    );
  }, [problems, label, format, readOnly]);
  useImperativeHandle(ref, () => ({
    insert: (text) => {
      const editor = view.current;
      if (editor === null) return;
      editor.dispatch(editor.state.replaceSelection(text));
      editor.focus();
    },
    show: (problem) => {
      const editor = view.current;
      if (editor === null) return;
      const { from } = rangeOf(problem, editor.state.doc);
      editor.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
      editor.focus();
    },
  }));
  return <div ref={parent} className="html-editor" />;
}

const diagnosticOf = (problem: ContentProblem, doc: Text): Diagnostic => ({
  ...rangeOf(problem, doc),
  severity: 'error',
  message: problem.message,
});

/** From where a problem begins to the end of its line. What is about the whole stands in the first line. */
function rangeOf({ line, column }: ContentProblem, doc: Text): { from: number; to: number } {
  // The text may have become shorter since it was looked at.
  const { from, to, text } = doc.line(Math.min(line ?? 1, doc.lines));
  const start = column === null ? text.search(/\S|$/) : column - 1;
  return { from: Math.min(from + start, to), to };
}

/**
 * Typing over a selection is done here: left to the browser, it keeps the look of what it replaces by inline styles, which the
 * policy of the page refuses. Extensions such as the one that closes brackets still come first.
 */
function typeOverSelection(event: InputEvent, view: EditorView): boolean {
  const { data, inputType } = event;
  const { main } = view.state.selection;
  if (inputType !== 'insertText' || data === null || main.empty || view.composing || view.state.readOnly) return false;
  event.preventDefault();
  const insert = () => view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type' });
  const handlers = view.state.facet(EditorView.inputHandler);
  if (!handlers.some((handle) => handle(view, main.from, main.to, data, insert)))
    view.dispatch(
      view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true }),
    );
  return true;
}

/** After two braces, the names of placeholders. */
function completionsOf(context: CompletionContext, placeholders: Placeholder[]) {
  const typed = context.matchBefore(/\{\{\s*[\w.-]*$/);
  if (typed === null) return null;
  const braces = /^\{\{\s*/.exec(typed.text)?.[0].length ?? 2;
  return {
    from: typed.from + braces,
    options: placeholders.map(({ key, label }) => ({ label: key, detail: label, apply: `${key}}}` })),
    validFor: /^[\w.-]*$/,
  };
}
