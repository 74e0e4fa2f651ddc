import { Eye, EyeOff } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import { Input } from 'react-aria-components/Input'
import { Field, type FieldProps } from './field.tsx'
import './password-field.css'

interface PasswordFieldProps extends Omit<FieldProps, 'type' | 'children' | 'autoComplete'> {
	/** For password managers: whether it is one that there is, or one to make up. */
	readonly autoComplete: 'current-password' | 'new-password'
}

/** A password, which can be shown, with a hint when caps lock is on. */
export function PasswordField({ hint, ref, ...props }: PasswordFieldProps) {
	const [isShown, setShown] = useState(false)
	const [isCaps, setCaps] = useState(false)
	const look = (event: KeyboardEvent) => setCaps(event.getModifierState('CapsLock'))
	const Icon = isShown ? EyeOff : Eye
	return (
		<Field
			{...props}
			type={isShown ? 'text' : 'password'}
			hint={isCaps ? 'Caps lock is on' : hint}
			onKeyDown={look}
			onKeyUp={look}
			spellCheck="false"
		>
			<span className="input-box password">
				<Input ref={ref} className="input" />
				<button
					type="button"
					className="password-show"
					aria-label={isShown ? 'Hide the letters' : 'Show the letters'}
					onClick={() => setShown(!isShown)}
				>
					<Icon size={16} aria-hidden="true" />
				</button>
			</span>
		</Field>
	)
}
