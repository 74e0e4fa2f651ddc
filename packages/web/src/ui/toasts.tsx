import { Check, X } from 'lucide-react'
import { Text } from 'react-aria-components/Text'
import {
	UNSTABLE_Toast as Toast,
	UNSTABLE_ToastContent as ToastContent,
	UNSTABLE_ToastRegion as ToastRegion,
} from 'react-aria-components/Toast'
import { Button } from './button.tsx'
import { queue } from './toast.ts'
import './toasts.css'

/** Where the toasts are; once, in the frame. */
const Toasts = () => (
	<ToastRegion queue={queue} className="toasts" aria-label="Notices">
		{({ toast: shown }) => (
			<Toast toast={shown} className="toast">
				<Check size={16} aria-hidden="true" />
				<ToastContent className="toast-text">
					<Text slot="title">{shown.content.text}</Text>
				</ToastContent>
				{shown.content.action && (
					<Button
						isSmall
						onPress={() => {
							shown.content.action?.onPress()
							queue.close(shown.key)
						}}
					>
						{shown.content.action.label}
					</Button>
				)}
				<Button slot="close" look="quiet" isSmall aria-label="Close" icon={<X />} />
			</Toast>
		)}
	</ToastRegion>
)

export default Toasts
