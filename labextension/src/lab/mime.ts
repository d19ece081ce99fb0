/**
 * The MIME renderer: draws a document wherever JupyterLab or Notebook shows an output or opens a `.jaxviz` file.
 * It needs no kernel and no trust: a document is data and is only ever shown as text and pixels.
 */
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';
import { decode, DocumentError } from '../document/decode.ts';
import { element } from '../explorer/elements.ts';
import { Explorer } from '../explorer/explorer.ts';
import { LayoutClient } from '../layout/client.ts';

const MIME_TYPE = 'application/vnd.jaxviz.v1+json';

class DocumentOutput extends Widget implements IRenderMime.IRenderer {
  private explorer: Explorer | null = null;
  private readonly layouts = new LayoutClient();

  constructor(private readonly options: IRenderMime.IRendererOptions) {
    super();
    this.addClass('jv-output');
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.clear();
    try {
      const document = await decode(model.data[this.options.mimeType]);
      if (this.isDisposed) {
        return;
      }
      const { height, stage } = (model.metadata[MIME_TYPE] ?? {}) as { height?: unknown; stage?: unknown };
      // A file has the whole tab; an output shares the notebook.
      const fill = this.parent?.hasClass('jp-MimeDocument') ?? false;
      this.explorer = new Explorer(this.node, {
        document,
        layouts: this.layouts,
        fill,
        ...(typeof height === 'number' ? { height } : {}),
        ...(typeof stage === 'string' ? { stage } : {})
      });
    } catch (error) {
      const message =
        error instanceof DocumentError ? error.message : `This document cannot be shown: ${String(error)}`;
      const line = element('div', 'jv-error', message);
      line.setAttribute('role', 'alert');
      this.node.replaceChildren(line);
    }
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.clear();
      this.layouts.dispose();
      super.dispose();
    }
  }

  private clear(): void {
    this.explorer?.dispose();
    this.explorer = null;
    this.node.replaceChildren();
  }
}

const extension: IRenderMime.IExtension = {
  id: 'jupyterlab-jaxviz:document',
  description: 'Shows JAX programs as graphs that can be explored.',
  rendererFactory: {
    safe: true,
    mimeTypes: [MIME_TYPE],
    createRenderer: options => new DocumentOutput(options)
  },
  // Before pictures, and before widgets, whose own rank is -10 and which do not survive reopening.
  rank: -20,
  // A file comes as its text, so that one that is no JSON is told here and not by a dialog of the host.
  dataType: 'string',
  fileTypes: [
    { name: 'jaxviz', displayName: 'JAX program', mimeTypes: [MIME_TYPE], extensions: ['.jaxviz'], fileFormat: 'text' }
  ],
  documentWidgetFactoryOptions: {
    name: 'jaxviz',
    primaryFileType: 'jaxviz',
    fileTypes: ['jaxviz'],
    defaultFor: ['jaxviz']
  }
};

export default extension;
