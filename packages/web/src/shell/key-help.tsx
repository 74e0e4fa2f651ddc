import { useState } from 'react'
import { CheckBox } from '../ui/check-box.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { shortcuts } from '../ui/keys.ts'
import './key-help.css'
import { areKeysOn, setKeysOn } from '../ui/single-keys.ts'

const isMac = /Mac|iP/.test(navigator.platform)
const shown = (key: string) =>
	key.replace('Mod+', isMac ? '⌘' : 'Ctrl ').replace(/k$|s$/, (letter) => (key.includes('Mod') ? letter.toUpperCase() : letter))

export default function KeyHelp({ onClose }: { onClose: () => void }) {
	const [isOn, setOn] = useState(areKeysOn)
	const change = (on: boolean) => {
		setKeysOn(on)
		setOn(on)
	}
	return (
		<Dialog title="Keys" isOpen onClose={onClose}>
			<dl className="keys">
				{shortcuts.map(({ keys, meaning }) => (
					<div key={keys}>
						<dt>{meaning}</dt>
						<dd>
							{keys.split(' ').map((key) => (
								<kbd key={key}>{shown(key)}</kbd>
							))}
						</dd>
					</div>
				))}
			</dl>
			<CheckBox isSelected={isOn} onChange={change}>
				Single letters are keys
			</CheckBox>
		</Dialog>
	)
}
