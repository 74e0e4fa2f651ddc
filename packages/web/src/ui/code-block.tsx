import { useState } from 'react'
import { Button } from './button.tsx'
import { copyText } from './copy-text.ts'
import './code-block.css'

interface CodeBlockProps {
	/** What it is, for who does not see it. */
	readonly label: string
	readonly text: string
}

/** Text of a machine, such as JSON, with a button to copy it. */
export const CodeBlock = ({ label, text }: CodeBlockProps) => (
	<figure className="code-block" aria-label={label}>
		{/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has only a keyboard scrolls in it. */}
		<pre tabIndex={0}>{text}</pre>
		<CopyButton label={label} text={text} />
	</figure>
)

export function CopyButton({ label, text }: CodeBlockProps) {
	const [isCopied, setCopied] = useState(false)
	const copy = async () => setCopied(await copyText(text))
	return (
		<Button isSmall onPress={copy} aria-label={`Copy: ${label}`}>
			{isCopied ? 'Copied' : 'Copy'}
		</Button>
	)
}
