import { useState } from 'react'
import { Button } from './button.tsx'
import { copyText } from './copy-text.ts'
import './field.css'
import './copy-field.css'

interface CopyFieldProps {
	readonly label: string
	readonly text: string
	readonly onCopied?: () => void
}

/** Text to take elsewhere, such as a link or a key, with a button that copies it. */
export function CopyField({ label, text, onCopied }: CopyFieldProps) {
	const [isCopied, setCopied] = useState(false)
	const copy = async () => {
		if (await copyText(text)) {
			setCopied(true)
			onCopied?.()
		}
	}
	return (
		<div className="field">
			<span className="label">{label}</span>
			<div className="copy-field">
				{/* Who copies by hand has copied as well. */}
				<code onCopy={onCopied}>{text}</code>
				<Button isSmall onPress={copy} aria-label={`Copy: ${label}`}>
					{isCopied ? 'Copied' : 'Copy'}
				</Button>
			</div>
		</div>
	)
}
