/** The settings of jaxviz, kept where the renderer of outputs finds them. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { choose } from './preferences.ts';

const ID = 'jupyterlab-jaxviz:settings';

export const settings: JupyterFrontEndPlugin<void> = {
  id: ID,
  description: 'What the person has chosen for pictures of JAX programs.',
  autoStart: true,
  optional: [ISettingRegistry],
  activate: (_: JupyterFrontEnd, registry: ISettingRegistry | null) => {
    void registry?.load(ID).then(loaded => {
      const take = (): void => {
        const { stage, colour, height, largest } = loaded.composite;
        // The schema has defaults for all of them.
        choose({
          stage: stage === 'jaxpr' ? '' : String(stage),
          colour: colour === 'kind' ? '' : String(colour),
          height: Number(height),
          largest: Number(largest) * 1_000_000
        });
      };
      loaded.changed.connect(take);
      take();
    });
  }
};
