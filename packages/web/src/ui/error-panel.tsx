import { useState } from 'react'
import { copyText } from './copy-text.ts'
import './button.css'
import './error-panel.css'

export interface ErrorPanelProps {
	readonly title: string
	/** What to do. */
	readonly advice: string
	readonly requestId?: string | undefined
	readonly onRetry?: (() => void) | undefined
	/** Of its button, where it does something else than to try again. */
	readonly retryText?: string
	readonly isSmall?: boolean
}

/** What went wrong, in the place where it did, with plain buttons: every page loads them, and few show them. The id of the request leads to the server's log. */
export function ErrorPanel({ title, advice, requestId, onRetry, retryText = 'Try again', isSmall }: ErrorPanelProps) {
	const [isCopied, setCopied] = useState(false)
	const copy = async () => setCopied(await copyText(requestId ?? ''))
	return (
		<div role="alert" className={isSmall ? 'error-panel small' : 'error-panel'}>
			<div>
				<strong>{title}</strong>
				<p>{advice}</p>
			</div>
			<div className="error-actions">
				{onRetry && (
					<button type="button" className="button plain" onClick={onRetry}>
						{retryText}
					</button>
				)}
				{requestId && (
					<span className="error-id">
						<code>{requestId}</code>
						<button type="button" className="button quiet small" onClick={copy}>
							{isCopied ? 'Copied' : 'Copy'}
						</button>
					</span>
				)}
			</div>
		</div>
	)
}
