import { autocompletion, type CompletionContext } from '@codemirror/autocomplete';
import { html } from '@codemirror/lang-html';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { basicSetup } from 'codemirror';
import { type Ref, useEffect, useEffectEvent, useImperativeHandle, useRef } from 'react';

export interface Placeholder {
  /** What the braces hold, such as `name`. */
  key: string;
  label: string;
}

export interface EditorHandle {
  /** Puts a text where the cursor is, and the cursor behind it. */
  insert: (text: string) => void;
}

interface HtmlEditorProps {
  value: string;
  label: string;
  placeholders: Placeholder[];
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

/** An editor for HTML. Tab indents; Escape and then Tab leaves it. */
export default function HtmlEditor({ value, label, placeholders, readOnly = false, onChange, ref }: HtmlEditorProps) {
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
          html(),
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
  }, [label, readOnly]);
  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);
  useImperativeHandle(ref, () => ({
    insert: (text) => {
      const editor = view.current;
      if (editor === null) return;
      editor.dispatch(editor.state.replaceSelection(text));
      editor.focus();
    },
  }));
  return <div ref={parent} className="html-editor" />;
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
