import type { NewApiKey } from '@remit/sdk'
import { useState } from 'react'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyField } from '../../ui/copy-field.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { pathFor } from './scopes.ts'

interface KeyShownProps {
	readonly made: NewApiKey
	readonly name: string
	readonly scopes: readonly string[]
	readonly onClose: () => void
}

/** The one time that a key is shown. Whoever closes it before copying is asked. */
export function KeyShown({ made: { key }, name, scopes, onClose }: KeyShownProps) {
	const [isCopied, setCopied] = useState(false)
	const [isAsked, setAsked] = useState(false)
	const { origin } = location
	const close = () => (isCopied || isAsked ? onClose() : setAsked(true))
	const copied = () => {
		setCopied(true)
		setAsked(false)
	}
	return (
		<Dialog
			title={`The key of ${name}`}
			width="wide"
			isOpen
			isKept
			onClose={close}
			actions={
				isAsked ? (
					<>
						<Button look="danger" onPress={onClose}>
							Close without copying
						</Button>
						<Button look="primary" autoFocus onPress={() => setAsked(false)}>
							Stay
						</Button>
					</>
				) : (
					<Button look="primary" onPress={close}>
						Done
					</Button>
				)
			}
		>
			<p>This is the only time that the key is shown. Keep it where you keep passwords.</p>
			<CopyField label="Key" text={key} onCopied={copied} />
			<CopyField
				label="Try it with curl"
				text={`curl -H 'Authorization: Bearer ${key}' ${origin}${pathFor(scopes)}`}
				onCopied={copied}
			/>
			<CopyField
				label="Use it with the SDK"
				text={`const remit = new Remit({ apiKey: process.env.REMIT_API_KEY, baseUrl: '${origin}' })`}
			/>
			{isAsked && <Banner>The key is not copied yet, and cannot be shown again.</Banner>}
		</Dialog>
	)
}
